import { describe, expect, it } from "vitest";
import { describeState, KEY_STATES, ORGANIZATION_STATES } from "../../../src/shared/settings/state.ts";

describe("describeState", () => {
  it("has words for every state of a key and of an organization", () => {
    for (const state of [...KEY_STATES, ...ORGANIZATION_STATES]) {
      expect(describeState(state).words).toBe(state.replaceAll("_", " "));
    }
    expect(describeState("cap_reached").level).toBe("bad");
  });

  it.each(["put_away", "constructor"])("says %s, which it does not know, as it stands", (state) => {
    expect(describeState(state)).toEqual({ words: state.replaceAll("_", " "), level: "warning" });
  });
});
