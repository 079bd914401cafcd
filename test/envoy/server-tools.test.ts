/** What tools cost that run at the model server: charged to the microcent, held under strict caps, or refused. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLoggedUsage } from "../../src/data-path/request-log/read-usage.ts";
import { verifyUsage } from "../../src/data-path/request-log/verify-usage.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import {
  TOKENS_COST,
  SEARCHES,
  MESSAGE,
  CALLS,
  RESPONSE,
  SEARCH_TOOL,
  json,
  stream,
  messageEvents,
  responseEvents,
  COMPLETION,
} from "./server-tool-answers.ts";
import { messagesBody, MESSAGES_PATH, readRequest, readSpend, readUsageTotals } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const RESPONSES_PATH = "/v1/responses";
const TOOLS_MODEL = "acme/tools";
const PLAIN_MODEL = "acme/plain";
/** Microcents: 100 a token of input, 400 of output, a million a search, 3,000,000.01 an interpreter. */
const USD = {
  input: "1",
  output: "4",
  server_tools: { web_search: "10.00", code_interpreter: "30.0000001", file_search: { unpriced: true } },
};
const FIELDS = {
  context_window: 10_000,
  max_output_tokens: 1_000,
  protocols: ["chat", "messages", "responses"],
};
const chat = withSharedChatStack([
  catalogEntry({ id: TOOLS_MODEL, prices: { USD }, ...FIELDS }),
  catalogEntry({ id: PLAIN_MODEL, prices: { USD: { input: "1", output: "4" } }, ...FIELDS }),
]);

const ROUTES = {
  messages: {
    path: MESSAGES_PATH,
    body: (fields: object = {}) => messagesBody({ model: TOOLS_MODEL, tools: [SEARCH_TOOL], ...fields }),
    param: "tools.0",
  },
  responses: {
    path: RESPONSES_PATH,
    body: (fields: object = {}) => ({
      model: TOOLS_MODEL,
      input: "hello",
      tools: [{ type: "web_search" }, { type: "code_interpreter", container: { type: "auto" } }],
      ...fields,
    }),
    param: "tools[0]",
  },
  chat: {
    path: CHAT_PATH,
    body: (fields: object = {}) => chatBody({ model: TOOLS_MODEL, web_search_options: {}, ...fields }),
    param: "web_search_options",
  },
} as const;
type RouteName = keyof typeof ROUTES;

function ask(key: CreatedKey, route: RouteName, fields: object = {}): Promise<HttpAnswer> {
  const { path, body } = ROUTES[route];
  return chat.stack.send({ path, key: key.key, body: body(fields) });
}

/** The line of a request in the request log, once it is there. */
async function readLine(answer: HttpAnswer): Promise<Record<string, unknown>> {
  const folder = join(chat.stack.dir, "data/requests");
  const find = () =>
    readdirSync(folder)
      .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
      .find((line) => line.includes(String(answer.headers["x-request-id"])));
  await waitFor("the line of the request log", () => find() !== undefined);
  return JSON.parse(find() ?? "") as Record<string, unknown>;
}

const search = (uses: number) => ({
  name: "web_search",
  tokens: null,
  uses,
  price: "10.00",
  cost: `0.0${uses}000000`,
});

describe("a tool that runs at the model server and has a price", () => {
  it.each([
    ["messages", "a JSON answer", json(MESSAGE), {}, 3_000_000],
    ["messages", "a stream", stream(...messageEvents), { stream: true }, 3_000_000],
    ["responses", "a JSON answer", json(RESPONSE), {}, 1_000_000 + 3_000_001],
    ["responses", "a stream", stream(...responseEvents), { stream: true }, 1_000_000 + 3_000_001],
    ["chat", "a JSON answer", json(COMPLETION), {}, 3_000_000],
  ] as const)(
    "is charged for each use beside the tokens: %s with %s",
    async (route, _form, answer, fields, tools) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer(answer);
      const told = await ask(key, route, { ...fields, usage: { include: true } });
      expect(told.status).toBe(200);
      const microcents = TOKENS_COST + tools;
      const amount = BigInt(microcents);
      expect(await readSpend(chat.stack, key)).toEqual({ key: amount, organization: amount });
      expect((await readUsageTotals(chat.stack, key)).costMicrocents).toBe(amount);
      const usage = `/api/organizations/${key.organizationId}/usage`;
      expect(await chat.stack.admin("GET", usage)).toMatchObject({
        data: [{ cost_microcents: microcents, server_tool_microcents: tools }],
      });
      expect(told.text).toContain(`"cost":"${(microcents / 1e8).toFixed(8)}"`);
      const uses = route === "responses" ? 1 : 3;
      const row = await readRequest(chat.stack, key, told);
      expect(row).toMatchObject({ cost_microcents: microcents, estimated: false });
      const { parts } = row.cost_details as { readonly parts: readonly object[] };
      expect(parts).toContainEqual(search(uses));
      const line = await readLine(told);
      expect(line).toMatchObject({ cost_microcents: microcents });
      expect(line["server_tools"]).toMatchObject({
        web_search: { uses, microcents_per_thousand: 1_000_000_000 },
      });
      const path = `/api/organizations/${key.organizationId}/requests/${String(told.headers["x-request-id"])}`;
      const { explanation } = await chat.stack.admin("GET", path);
      expect(JSON.stringify(explanation)).toContain(`"name":"web search","tokens":null,"uses":${uses}`);
    },
  );

  it("is the same in the request log as in Redis, which `usage verify` holds against each other", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(json(RESPONSE));
    const told = await ask(key, "responses");
    const { month } = await readLine(told);
    const logged = await readLoggedUsage(join(chat.stack.dir, "data/requests"), String(month));
    const [row] = logged.rows.get(key.organizationId) ?? [];
    expect(row).toMatchObject({
      toolMicrocents: 4_000_001n,
      costMicrocents: BigInt(TOKENS_COST) + 4_000_001n,
    });
    const { differences } = await verifyUsage(await chat.stack.store(), String(month), logged);
    expect(differences.filter(({ organizationId }) => organizationId === key.organizationId)).toEqual([]);
  });

  it("is charged for what a stream had shown when it broke off", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(stream(...messageEvents.slice(0, 6)));
    const answer = await ask(key, "messages", { stream: true });
    const { cost_details: details } = await readRequest(chat.stack, key, answer);
    expect((details as { readonly parts: readonly object[] }).parts).toContainEqual(search(1));
  });

  it("is shown with the model's prices", async () => {
    const answer = await chat.stack.send({ path: `/v1/models/${TOOLS_MODEL}`, key: chat.key.key });
    expect(answer.json()["pricing"]).toMatchObject({
      server_tools: { web_search: "10.00", code_interpreter: "30.0000001", file_search: null },
    });
  });
});

describe("a tool that runs at the model server and has no price", () => {
  it.each(Object.keys(ROUTES) as RouteName[])(
    "[native.server_tools] is a 400 of %s that names the setting",
    async (route) => {
      const key = await chat.stack.createKey();
      const answer = await ask(key, route, { model: PLAIN_MODEL });
      expect(answer.status).toBe(400);
      expect(readError(answer)).toMatchObject({ code: "unsupported_parameter", param: ROUTES[route].param });
      expect(readError(answer).message).toMatch(
        /`web_search` runs at the model server.*`server_tools`.*unpriced/,
      );
      expect(chat.upstream.requests).toEqual([]);
      expect((await readSpend(chat.stack, key)).key).toBe(0n);
    },
  );

  it("[responses.native.server_tools] passes where its row says `unpriced: true`, for the price of its tokens", async () => {
    const key = await chat.stack.createKey();
    const output = [{ type: "file_search_call", status: "completed" }, ...CALLS.slice(3)];
    chat.upstream.answer(json({ ...RESPONSE, output }));
    const tools = [{ type: "file_search", vector_store_ids: ["vs_1"] }];
    expect((await ask(key, "responses", { tools })).status).toBe(200);
    expect((await readSpend(chat.stack, key)).key).toBe(BigInt(TOKENS_COST));
  });

  it("costs nothing to count", async () => {
    const body = ROUTES.messages.body({ model: PLAIN_MODEL });
    chat.upstream.answer(json({ input_tokens: 9 }));
    const answer = await chat.stack.send({ path: `${MESSAGES_PATH}/count_tokens`, key: chat.key.key, body });
    expect(answer.status).toBe(200);
  });
});

describe("strict caps", () => {
  /** A context window for each search and one more, 5 tokens of output, and the searches. */
  const worst = (uses: number) => BigInt((uses + 1) * 10_000 * 100 + 5 * 400 + uses * 1_000_000);

  it.each([
    ["messages", { max_tokens: 5, tools: [{ ...SEARCH_TOOL, max_uses: 3 }] }],
    ["responses", { max_output_tokens: 5, max_tool_calls: 3, tools: [{ type: "web_search" }] }],
  ] as const)(
    "[native.strict_caps] hold of %s the searches and the context windows that they have read again",
    async (route, fields) => {
      const cents = Number(worst(3) / 1_000_000n) + 1;
      const poor = await chat.stack.createKey(
        { limits: monthLimits({ cap: cents - 1 }) },
        { strictCaps: true },
      );
      const refused = await ask(poor, route, fields);
      expect([refused.status, readError(refused).code]).toEqual([402, "hard_cap_reached"]);
      expect(chat.upstream.requests).toEqual([]);
      const key = await chat.stack.createKey({ limits: monthLimits({ cap: cents }) }, { strictCaps: true });
      const gate = createGate();
      // Three searches, each of which has filled the window.
      const usage = { ...SEARCHES, input_tokens: 40_000, output_tokens: 5 };
      const output = [CALLS[0], CALLS[0], CALLS[0], CALLS[3]];
      const body = route === "messages" ? { ...MESSAGE, usage } : { ...RESPONSE, output, usage };
      chat.upstream.answer({ kind: "json", before: gate, body });
      const sent = ask(key, route, fields);
      await chat.upstream.waitForRequests(1);
      const { organizationHeldMicrocents: held } = await (
        await chat.stack.store()
      ).readSpend(key.organizationId, null);
      expect(held).toBe(worst(3));
      gate.release();
      expect((await sent).status).toBe(200);
      expect((await readSpend(chat.stack, key)).key).toBe(worst(3));
    },
  );

  it.each([
    ["messages", {}, "tools.0.max_uses"],
    [
      "messages",
      { tools: [{ ...SEARCH_TOOL, type: "web_search_20260209", max_uses: 1 }] },
      "tools.0.allowed_callers",
    ],
    ["responses", {}, "max_tool_calls"],
    ["chat", {}, "web_search_options"],
  ] as const)(
    "refuse a tool of %s that nothing bounds, %j, by the field: %s",
    async (route, fields, param) => {
      const key = await chat.stack.createKey({}, { strictCaps: true });
      const answer = await ask(key, route, fields);
      expect(answer.status).toBe(400);
      expect(readError(answer)).toMatchObject({ code: "unsupported_parameter", param });
      expect(readError(answer).message).toContain("so its cost has no upper bound");
      expect(chat.upstream.requests).toEqual([]);
    },
  );
});
