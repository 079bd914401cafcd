import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import { CountExchange } from "../../../src/data-path/exchange/count-exchange.ts";
import type { Reply } from "../../../src/data-path/exchange/reply.ts";
import type {
  ResponseStart,
  RoutedCall,
  Route,
  UpstreamResponse,
} from "../../../src/data-path/exchange/upstream/upstream-call.ts";
import type { ProtocolName } from "../../../src/data-path/translation/client-protocol.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import { createCatalogOf } from "../catalog/support.ts";
import { ADMISSION } from "./admission-fixture.ts";
import { endsReportedAs } from "./ends-fixture.ts";
import { createRecordingMeter } from "./meter-fixture.ts";

const NATIVE = "    protocols: [messages, responses]\n    upstream_model: native\n";
const FOUND: ResponseStart = {
  status: 200,
  contentType: "application/json",
  coding: null,
  retryAfter: undefined,
  codeDetails: "via_upstream",
  lostConnection: undefined,
  attempts: 1,
  endOfStream: false,
};
const bytesOf = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const MESSAGES = [{ role: "user", content: "how many?" }];

function open(protocol: ProtocolName = "messages", extra = "", reached = new Set<string>()) {
  const catalog = createCatalogOf([{ id: "acme/a", extra }, { id: "acme/b" }]);
  const budget = new BodyBudget({ maxBodyBytes: 1_000, maxUpstreamBytes: 1_100, maxBufferedBytes: 1_000 });
  const { meter, finished } = createRecordingMeter();
  const asked: object[] = [];
  const held: number[] = [];
  const exchange = new CountExchange(
    { ...ADMISSION, protocol, endpoint: "count_tokens" },
    {
      catalog: () => catalog,
      protocols: PROTOCOLS,
      estimator: {
        countPrompt: (of, text) => {
          asked.push({ ...of, text });
          held.push(budget.bufferedBytes);
          return Promise.resolve(5);
        },
      },
      budget,
      reached: { has: (name) => reached.has(name), note: (name) => void reached.add(name) },
      ends: endsReportedAs(),
      logger: { warn: () => undefined },
      meter,
    },
  );
  const send = (body: object, query = "") => exchange.onRequestBody(bytesOf(body), query);
  /** The call, where the upstream is asked. */
  const sendOn = async (body: object): Promise<RoutedCall> => {
    const route = await send(body);
    if ("call" in route) return route.call;
    throw new Error("the upstream is not asked");
  };
  return { exchange, send, sendOn, asked, held, budget, finished };
}

/** What the upstream answers, of the kind that is expected. */
function begin<Kind extends UpstreamResponse["kind"]>(call: RoutedCall, start: ResponseStart, kind: Kind) {
  const response = call.onResponseStart(start);
  if (!("kind" in response) || response.kind !== kind) throw new Error(`the response is not "${kind}"`);
  return response as Extract<UpstreamResponse, { kind: Kind }>;
}

const bodyOf = async (reply: Promise<Route | Reply>) => {
  const { body } = await reply;
  return JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString()) as object;
};

describe("counting a prompt's tokens", () => {
  it("of messages counts the text that the upstream would be sent, and answers as Anthropic does", async () => {
    const { send, asked, finished } = open();
    expect(await bodyOf(send({ model: "acme/a", messages: MESSAGES }))).toEqual({ input_tokens: 5 });
    expect(asked).toEqual([{ model: "acme/a", organizationId: "org_1", text: "how many?" }]);
    expect(finished).toMatchObject([{ status: 200, code: null }]);
  });

  it("of responses counts the text that the upstream would be sent, and answers as OpenAI does", async () => {
    const { send, asked } = open("responses");
    const counted = await bodyOf(send({ model: "acme/a", input: "how many?" }));
    expect(counted).toEqual({ object: "response.input_tokens", input_tokens: 5 });
    expect(asked).toEqual([{ model: "acme/a", organizationId: "org_1", text: "how many?" }]);
  });

  it("is refused for a model that the key may not use, as the request itself would be", async () => {
    const { send, asked } = open();
    await expect(send({ model: "acme/b", messages: MESSAGES })).rejects.toThrow(/acme\/b|model/);
    expect(asked).toEqual([]);
  });

  it("is no endpoint of chat completions", async () => {
    const { send } = open("chat");
    await expect(send({ model: "acme/a", messages: MESSAGES })).rejects.toMatchObject({
      code: "unknown_endpoint",
    });
  });

  it("holds the body's bytes only while it is answered, also when that fails", async () => {
    const { send, held, budget } = open();
    await send({ model: "acme/a", messages: MESSAGES });
    expect(held[0]).toBeGreaterThan(0);
    await expect(send({ model: "acme/a", messages: 7 })).rejects.toMatchObject({ code: "invalid_parameter" });
    expect(budget.bufferedBytes).toBe(0);
  });

  it("is refused with 413 beyond the largest body, without counting", async () => {
    const { exchange, asked } = open();
    await expect(exchange.onRequestBody(new Uint8Array(1_001), "")).rejects.toMatchObject({
      code: "request_too_large",
    });
    expect(asked).toEqual([]);
  });
});

describe("counting a prompt's tokens where the upstream speaks the protocol", () => {
  it.each([
    ["messages", { messages: MESSAGES }, "/api/v1/messages/count_tokens?beta=true"],
    ["responses", { input: "how many?" }, "/api/v1/responses/input_tokens"],
  ] as const)(
    "[responses.native.input_tokens] asks the upstream for %s, and passes its answer on",
    async (protocol, fields, path) => {
      const { send, asked, finished } = open(protocol, NATIVE);
      const route = (await send({ model: "acme/a", ...fields }, "beta=true")) as Route;
      expect(route).toMatchObject({ upstream: "local", path });
      expect(await bodyOf(Promise.resolve(route))).toEqual({ model: "native", ...fields });
      const answer = bytesOf({ input_tokens: 7, tomorrow: true });
      expect(await begin(route.call, FOUND, "whole").onBody(answer)).toEqual(answer);
      expect(asked).toEqual([]);
      expect(finished).toMatchObject([{ status: 200 }]);
    },
  );

  it.each([302, 403, 404, 405, 500, 501])("estimates if the upstream cannot count: %d", async (status) => {
    const { sendOn, asked, finished } = open("messages", NATIVE);
    const tools = [{ type: "web_search_20260101", name: "web_search" }];
    const call = await sendOn({ model: "acme/a", messages: MESSAGES, tools });
    const reply = await call.onResponseStart({ ...FOUND, status });
    expect(reply).toMatchObject({ status: 200, body: '{"input_tokens":5}' });
    expect(asked).toMatchObject([{ text: `how many?\n${JSON.stringify(tools[0])}` }]);
    expect(finished).toMatchObject([{ status: 200 }]);
  });

  it.each([
    [401, "upstream_authentication_failed"],
    [429, "model_overloaded"],
    [503, "model_starting"],
  ])("tells a %d of the upstream as it is told elsewhere", async (status, code) => {
    const { sendOn } = open("messages", NATIVE);
    const call = await sendOn({ model: "acme/a", messages: MESSAGES });
    const start = () => call.onResponseStart({ ...FOUND, status, endOfStream: true });
    expect(start).toThrow(expect.objectContaining({ code }));
  });

  it.each([bytesOf({ tokens: 7 }), bytesOf({ input_tokens: "7" }), Buffer.from("<html>")])(
    "estimates if the upstream's answer has no count: %s",
    async (answer) => {
      const { sendOn, finished } = open("messages", NATIVE);
      const call = await sendOn({ model: "acme/a", messages: MESSAGES });
      const body = await begin(call, FOUND, "whole").onBody(answer);
      expect(JSON.parse(Buffer.from(body).toString())).toEqual({ input_tokens: 5 });
      expect(finished).toMatchObject([{ status: 200 }]);
    },
  );

  it.each([
    [400, "The provided model doesn't support counting tokens."],
    [422, "count_tokens is not supported for this model"],
    [400, "Unsupported endpoint."],
  ])("estimates if a %d says that the upstream cannot count: %s", async (status, message) => {
    const { sendOn } = open("messages", NATIVE);
    const call = await sendOn({ model: "acme/a", messages: MESSAGES });
    const reply = await begin(call, { ...FOUND, status }, "error").onBody(bytesOf({ error: { message } }));
    expect(reply).toMatchObject({ status: 200, body: '{"input_tokens":5}' });
  });

  it("passes the upstream's words about the request on", async () => {
    const { sendOn } = open("messages", NATIVE);
    const call = await sendOn({ model: "acme/a", messages: MESSAGES });
    const response = begin(call, { ...FOUND, status: 400 }, "error");
    const error = bytesOf({ type: "error", error: { type: "invalid_request_error", message: "bad tools" } });
    await expect(response.onBody(error)).rejects.toMatchObject({
      code: "invalid_parameter",
      message: "bad tools",
    });
  });

  it.each([
    { past: "never", answered: [], code: "model_unreachable" },
    { past: "once", answered: [FOUND], code: "model_starting" },
  ])(
    "tells $code where the upstream is not there and has answered $past before",
    async ({ answered, code }) => {
      const reached = new Set<string>();
      const start = async (response: ResponseStart) => {
        const { sendOn } = open("messages", NATIVE, reached);
        const call = await sendOn({ model: "acme/a", messages: MESSAGES });
        return call.onResponseStart(response);
      };
      for (const response of answered) await start(response);
      const gone = { ...FOUND, status: 503, codeDetails: "no_healthy_upstream" };
      await expect(start(gone)).rejects.toMatchObject({ code });
    },
  );

  it("tells the meter of a client that went away", async () => {
    const { sendOn, finished } = open("messages", NATIVE);
    const call = await sendOn({ model: "acme/a", messages: MESSAGES });
    await call.onEnd();
    expect(finished).toMatchObject([{ status: 499 }]);
  });
});
