import { describe, expect, it } from "vitest";
import { AdminError } from "../../../src/management/admin/admin-error.ts";
import { checkInput } from "../../../src/management/admin/http/check-input.ts";
import { keyCreation } from "../../../src/management/admin/schemas/key.ts";

function refusal(value: unknown): AdminError {
  try {
    checkInput(keyCreation, value);
  } catch (thrown) {
    if (thrown instanceof AdminError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was refused");
}

describe("checkInput", () => {
  it("tells all problems at once, the first as `param`", () => {
    const error = refusal({ name: "", budget_cents: -1, extra: 1 });
    expect(error.param).toBe("name");
    for (const field of ["name", "budget_cents", "extra"]) expect(error.message).toContain(`\`${field}\``);
  });

  it("tells no problem twice", () => {
    const { message } = refusal({ name: "a", allowed_models: "" });
    expect(message.match(/allowed_models/g)).toHaveLength(1);
  });

  it("says what was found, cut off where it is long", () => {
    expect(refusal({ name: "a", budget_cents: "x".repeat(500) }).message).toMatch(/found "x{78}…$/);
  });

  it("says once what was found in tags, and shows nothing of a key in them", () => {
    expect(refusal({ name: "a", default_tags: "foo" }).message).toBe(
      '`default_tags`: expected `name=value`, found "foo"',
    );
    const { message } = refusal({ name: "a", default_tags: `team=sk-igw-${"a1B2".repeat(12)}` });
    expect(message).toContain("without a key or token");
    expect(message).not.toContain("a1B2");
  });

  it("speaks of missing fields only when nothing else is wrong", () => {
    expect(refusal({}).code).toBe("missing_required_parameter");
    expect(refusal({ budget_cents: -1 }).code).toBe("invalid_parameter");
  });

  it("looks for the nearest name of an object's first ten unknown fields only", () => {
    const unknown = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`budget_cent${index}`, 1]));
    const issues = keyCreation.safeParse({ name: "a", ...unknown }).error?.issues ?? [];
    const lines = issues.flatMap(({ message }) => message.split("\n"));
    expect(lines.filter((line) => line.includes("did you mean"))).toHaveLength(10);
    expect(lines.slice(10)).toEqual(["unknown field", "unknown field"]);
  });

  it("does not print an endless list", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field${index}`, 1]));
    expect(refusal({ name: "a", ...many }).message).toMatch(/; and 90 more$/);
  });
});
