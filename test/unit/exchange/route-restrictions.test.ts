import { describe, expect, it } from "vitest";
import {
  parseRouteRestrictions,
  restrictModels,
} from "../../../src/data-path/exchange/admission/route-restrictions.ts";

describe("restrictModels", () => {
  it.each([
    { name: "nothing restricted", extensions: {}, key: null, models: null },
    { name: "the key's own", extensions: {}, key: ["a", "b"], models: ["a", "b"] },
    { name: "the route's", extensions: { allowed_models: "a, b" }, key: null, models: ["a", "b"] },
    { name: "both", extensions: { allowed_models: "b,c" }, key: ["a", "b"], models: ["b"] },
    {
      name: "its organization",
      extensions: { allowed_organizations: "org_2, org_1" },
      key: null,
      models: null,
    },
    { name: "another organization", extensions: { allowed_organizations: "org_2" }, key: null, models: [] },
    { name: "an empty list of models", extensions: { allowed_models: "" }, key: null, models: [] },
    {
      name: "an empty list of organizations",
      extensions: { allowed_organizations: " , " },
      key: ["a"],
      models: [],
    },
    { name: "part of an id", extensions: { allowed_organizations: "org_11" }, key: null, models: [] },
  ])("allows what key and route allow: $name", ({ extensions, key, models }) => {
    expect(restrictModels(key, "org_1", parseRouteRestrictions(extensions))).toEqual(models);
  });
});
