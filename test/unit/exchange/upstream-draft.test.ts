import { describe, expect, it } from "vitest";
import { UpstreamDraft } from "../../../src/exchange/upstream-draft.ts";
import { createModel, decode, encode } from "../../support/messages-exchange.ts";
import { parseWith } from "../../support/parse-with.ts";

const MODEL = createModel({ maxTokensField: "both" });

function draftOf(fields: Readonly<Record<string, unknown>>, strictCaps: boolean): UpstreamDraft {
  const body = { model: MODEL.id, messages: [{ role: "user", content: "Hi" }], ...fields };
  return new UpstreamDraft(parseWith("chat", encode(body)), MODEL, strictCaps);
}

function bodyOf(draft: UpstreamDraft): unknown {
  expect(draft.byteLength).toBe(draft.bytes.byteLength);
  return JSON.parse(decode(draft.bytes));
}

const LIMIT = { max_tokens: 1_000_000, max_completion_tokens: 1_000_000 };

describe("UpstreamDraft", () => {
  it("sends no limit of output that the client did not give, without strict caps", () => {
    expect(bodyOf(draftOf({}, false))).not.toHaveProperty("max_completion_tokens");
  });

  it("gets the model's limit when strict caps come into force before the hold", () => {
    const draft = draftOf({}, false);
    draft.becomeStrict();
    expect(bodyOf(draft)).toMatchObject(LIMIT);
  });

  it("is what it was from the beginning where the caps were strict already", () => {
    const draft = draftOf({}, true);
    const before = draft.bytes;
    draft.becomeStrict();
    expect(bodyOf(draft)).toMatchObject(LIMIT);
    expect(draft.bytes).toBe(before);
  });

  it("is refused where strict caps come into force and know nothing of a field", () => {
    const draft = draftOf({ beam_width: 4 }, false);
    expect(bodyOf(draft)).toMatchObject({ beam_width: 4 });
    expect(() => draft.becomeStrict()).toThrow(expect.objectContaining({ param: "beam_width" }));
  });
});
