import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { createModel, decode, describeError, encode } from "../../support/messages-exchange.ts";
import { parseWith } from "../../support/parse-with.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import { createRandomIds } from "../../../src/data-path/translation/responses-to-chat/ids.ts";
import { atOnce } from "../../../src/shared/event-loop/steps.ts";

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
    const counting = PROTOCOLS[name].translations.chat?.counting;
    const read = atOnce(PROTOCOLS[name].readBody(bytesOf(body)));
    expect(parseWith(name, bytesOf(body)).model).toBe("acme/a");
    expect(counting && atOnce(counting.readPrompt(read, createModel()))).toEqual({ text: "hi", media: 0 });
    expect(counting?.formatCount(7)).toEqual(counted);
  });

  it.each([
    {
      name: "messages",
      body: { model: "acme/a", messages: [{ role: "user", content: "hi" }] },
      path: "/messages/count_tokens",
      counted: { input_tokens: 7 },
    },
    {
      name: "responses",
      body: { model: "acme/a", input: "hi" },
      path: "/responses/input_tokens",
      counted: { object: "response.input_tokens", input_tokens: 7 },
    },
  ] as const)(
    "send a count of $name to a server that speaks it as it came, and can answer it without",
    ({ name, body, path, counted }) => {
      const counting = PROTOCOLS[name].translations[name]?.counting;
      const read = atOnce(PROTOCOLS[name].readBody(bytesOf(body)));
      expect(counting?.upstream?.upstreamPath).toBe(path);
      const sent = decode(counting?.upstream?.createBody(read, createModel()) ?? new Uint8Array());
      expect(JSON.parse(sent)).toEqual({ ...body, model: createModel().upstreamModel });
      expect(counting && atOnce(counting.readPrompt(read, createModel())).text).toBe("hi");
      expect(counting?.formatCount(7)).toEqual(counted);
    },
  );

  it("compact at a server that speaks responses in one piece, at its own endpoint, without a limit", () => {
    const compaction = PROTOCOLS.responses.translations.responses?.compaction;
    const body = { model: "acme/a", input: "hi", stream: true };
    const request = compaction?.parseRequest(atOnce(PROTOCOLS.responses.readBody(bytesOf(body))));
    expect(compaction?.upstreamPath).toBe("/responses/compact");
    expect(request?.stream).toBe(false);
    expect(compaction?.counting).toBeNull();
  });

  it("take a count of messages without `max_tokens`, but no request for an answer", () => {
    const body = bytesOf({ model: "acme/a", messages: [{ role: "user", content: "hi" }] });
    const read = atOnce(PROTOCOLS.messages.readBody(body));
    const counting = PROTOCOLS.messages.translations.chat?.counting;
    expect(counting && atOnce(counting.readPrompt(read, createModel())).text).toBe("hi");
    expect(() => parseWith("messages", body)).toThrow(GatewayError);
  });

  it.each([
    ["chat", ["model", "max_tokens", "max_completion_tokens", "stream", "web_search_options"]],
    [
      "messages",
      [
        "model",
        "max_tokens",
        "stream",
        "tools",
        "mcp_servers",
        "container",
        "speed",
        "inference_geo",
        "service_tier",
      ],
    ],
    [
      "responses",
      ["model", "max_output_tokens", "stream", "tools", "input", "previous_response_id", "background"],
    ],
  ] as const)(
    "[native.twice] refuse a body of %s that gives one of %j twice, or in other letters",
    (name, fields) => {
      for (const field of fields) {
        const body = `{"model":"a/b","${field}":1,"${field}":2}`;
        expect(describeError(() => atOnce(PROTOCOLS[name].readBody(encode(body))))).toBe(
          `400 invalid_parameter \`${field}\` is given more than once. Send it once.`,
        );
        const folded = `{"model":"a/b","${field.toUpperCase()}":1}`;
        expect(describeError(() => atOnce(PROTOCOLS[name].readBody(encode(folded))))).toContain(
          `Use \`${field}\``,
        );
      }
    },
  );
});

describe("ids of the Responses protocol", () => {
  it("have the prefix of what they are of, and are never the same", () => {
    expect(createRandomIds("resp")).toMatch(/^resp_[0-9A-Za-z]{24}$/);
    expect(createRandomIds("msg")).toMatch(/^msg_[0-9A-Za-z]{16}$/);
    const ids = Array.from({ length: 1_000 }, () => createRandomIds("fc"));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
