import { describe, expect, it } from "vitest";
import { completion, createModel, decode, encode } from "../../support/messages-exchange.ts";
import { parseWith } from "../../support/parse-with.ts";

const LONG = "12345678901234567890";
const SCHEMA = `{"type":"object","properties":{"id":{"const":${LONG},"maximum":1.0}}}`;
const BODIES = {
  chat: `{"model":"a/b","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]}`,
  messages: `{"model":"a/b","max_tokens":1,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":${SCHEMA}}]}`,
  responses: `{"model":"a/b","input":"hi","tools":[{"type":"function","name":"f","parameters":${SCHEMA}}],"text":{"format":{"type":"json_schema","name":"s","schema":${SCHEMA}}}}`,
};

describe.each(["chat", "messages", "responses"] as const)(
  "a number of %s that is longer than 2^53",
  (name) => {
    it("keeps every digit in a tool's schema on its way to the upstream", () => {
      const body = decode(parseWith(name, encode(BODIES[name])).toUpstream(createModel()));
      expect(body.split(`"const":${LONG}`)).toHaveLength(name === "responses" ? 3 : 2);
    });
  },
);

describe("a response that tells its request's tools back", () => {
  it("keeps every digit of their schemas", () => {
    const request = parseWith("responses", encode(BODIES.responses));
    const model = createModel();
    request.toUpstream(model);
    const answer = request.createAnswer({
      model,
      estimatedInputTokens: 1,
      nowMs: () => 0,
      requestId: "req_1",
    });
    const { bytes } = answer.translateBody(encode(completion({ content: "hi" })));
    expect(decode(bytes).split(`"const":${LONG}`)).toHaveLength(3);
  });
});
