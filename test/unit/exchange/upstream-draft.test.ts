import { describe, expect, it } from "vitest";
import { UpstreamDraft } from "../../../src/data-path/exchange/upstream/upstream-draft.ts";
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

  it("gets the model's limit when strict caps come into force before the record is opened", () => {
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

  it.each([
    ["chat", "both", { max_tokens: 4e2, n: 2 }],
    ["chat", "max_completion_tokens", { max_tokens: 400 }],
    ["chat", "max_tokens", { max_completion_tokens: 4_000, n_predict: 400 }],
    ["messages", "both", { max_tokens: 400 }],
    ["responses", "max_tokens", { max_output_tokens: 400, messages: undefined, input: "Hi" }],
    ["responses", "both", { messages: undefined, input: "Hi" }],
  ] as const)("knows how long it would be with a smaller limit: %s under %s", (protocol, field, fields) => {
    const model = createModel({ maxTokensField: field });
    const body = { model: model.id, messages: [{ role: "user", content: "Hi é" }], ...fields };
    const request = parseWith(protocol, encode(body));
    const draft = new UpstreamDraft(request, model, true);
    for (const tokens of [1, 9, 10, 399]) {
      const { byteLength } = request.toUpstream(model, "strict", tokens);
      expect(draft.lengthAt(tokens)).toBe(byteLength);
    }
  });

  it.each([
    ["messages", { max_tokens: 400, messages: [{ role: "user", content: "Hi é" }] }],
    ["responses", { input: "Hi é" }],
  ] as const)("knows it of what passes through, too: %s", (protocol, fields) => {
    const request = parseWith(protocol, encode({ model: MODEL.id, ...fields }), protocol);
    const draft = new UpstreamDraft(request, MODEL, true);
    for (const tokens of [9, 10, 399]) {
      expect(draft.lengthAt(tokens)).toBe(request.toUpstream(MODEL, "strict", tokens).byteLength);
    }
  });

  it("has no limit to lower where nothing is generated", () => {
    const request = parseWith("embeddings", encode({ model: MODEL.id, input: "Hi" }), "embeddings");
    expect(new UpstreamDraft(request, MODEL, true).lengthAt(1)).toBeNull();
  });

  it("is refused where strict caps come into force and know nothing of a field", () => {
    const draft = draftOf({ beam_width: 4 }, false);
    expect(bodyOf(draft)).toMatchObject({ beam_width: 4 });
    expect(() => draft.becomeStrict()).toThrow(expect.objectContaining({ param: "beam_width" }));
  });
});
