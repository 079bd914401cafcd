import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/errors.ts";
import { PROTOCOLS } from "../../../src/translation/protocols.ts";
import { createRandomIds } from "../../../src/translation/responses-to-chat/ids.ts";

const bytesOf = (body: object) => new TextEncoder().encode(JSON.stringify(body));

describe("the protocols", () => {
  it("stand under their own names", () => {
    for (const [name, protocol] of Object.entries(PROTOCOLS)) expect(protocol.name).toBe(name);
  });

  it.each([
    {
      name: "messages",
      body: { model: "acme/a", max_tokens: 1, messages: [{ role: "user", content: "hi" }] },
      counted: { input_tokens: 7 },
    },
    {
      name: "responses",
      body: { model: "acme/a", input: "hi" },
      counted: { object: "response.input_tokens", input_tokens: 7 },
    },
  ] as const)("read a request of $name for an answer and for a count alike", ({ name, body, counted }) => {
    const protocol = PROTOCOLS[name];
    const { counting } = protocol;
    expect(protocol.parseRequest(bytesOf(body)).model).toBe("acme/a");
    expect(counting?.parseRequest(bytesOf(body)).model).toBe("acme/a");
    expect(counting?.formatCount(7)).toEqual(counted);
  });

  it("take a count of messages without `max_tokens`, but no request for an answer", () => {
    const body = bytesOf({ model: "acme/a", messages: [{ role: "user", content: "hi" }] });
    expect(PROTOCOLS.messages.counting?.parseRequest(body).model).toBe("acme/a");
    expect(() => PROTOCOLS.messages.parseRequest(body)).toThrow(GatewayError);
  });
});

describe("ids of the Responses protocol", () => {
  it("have the prefix of what they are of, and are never the same", () => {
    expect(createRandomIds("resp")).toMatch(/^resp_[0-9A-Za-z]{24}$/);
    expect(createRandomIds("msg")).toMatch(/^msg_[0-9A-Za-z]{16}$/);
    const ids = Array.from({ length: 1_000 }, () => createRandomIds("fc"));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
