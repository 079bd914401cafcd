import { describe, expect, it } from "vitest";
import { knownSettings, rememberSettings } from "../../../src/data-path/store/admission/read-settings.ts";
import { REPLY_LAYOUTS } from "../../../src/data-path/store/redis/reply-layouts.ts";

const { settings: NAMES } = REPLY_LAYOUTS.admit;
const ALIASES = Object.fromEntries(
  Array.from({ length: 50 }, (_, count) => [`alias-${count}`, `acme/model-number-${count}`]),
);
const MODEL_NAMES = JSON.stringify({ aliases: ALIASES, default_model: null });

/** As an admission tells them. */
function tell(texts: Readonly<Record<string, string>>): string[] {
  return NAMES.map((name) => texts[name] ?? "");
}

describe("the settings that admissions tell", () => {
  it("are known by their key until others are told", () => {
    expect(knownSettings("key_1")).toBeNull();
    const told = { keyDisplay: "sk-igw-…abcd", keyName: "a", keyRequestsPerMinute: "60" };
    const first = rememberSettings("key_1", "1", tell(told));
    expect(first).toMatchObject({
      version: "1",
      display: "sk-igw-…abcd",
      key: { name: "a", requestsPerMinute: 60 },
    });
    expect(knownSettings("key_1")).toBe(first);
    const second = rememberSettings("key_1", "2", tell({ ...told, keyName: "b" }));
    expect(knownSettings("key_1")).toBe(second);
    expect(knownSettings("key_2")).toBeNull();
  });

  it("are kept up to a number of characters, those that were told last", () => {
    const MAX_CHARACTERS = 3_000_000;
    const texts = tell({ keyRequestsPerMinute: "60", organizationModelNames: MODEL_NAMES });
    const fitting = Math.floor(MAX_CHARACTERS / texts.join("").length);
    for (let count = 0; count <= fitting; count += 1) rememberSettings(`key_many_${count}`, "1", texts);
    expect(knownSettings("key_many_0")).toBeNull();
    expect(knownSettings("key_many_1")).not.toBeNull();
    // What is told again is no more than it was.
    for (let count = 0; count < 10; count += 1) rememberSettings(`key_many_${fitting}`, "2", texts);
    expect(knownSettings("key_many_1")).not.toBeNull();
    expect(knownSettings(`key_many_${fitting}`)?.version).toBe("2");
  });

  it("have a long list once for all keys of an organization, not for each", () => {
    const read = (keyName: string) =>
      rememberSettings(
        keyName,
        "1",
        tell({ keyName, keyRequestsPerMinute: "60", organizationModelNames: MODEL_NAMES }),
      );
    const [first, second] = [read("a"), read("b")];
    expect(second.key.name).toBe("b");
    expect(second.organization.modelNames).toBe(first.organization.modelNames);
    expect(first.organization.modelNames).toMatchObject({ aliases: ALIASES });
  });
});
