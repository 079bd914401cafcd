/** Attacks with requests that are whole: taken back, refused, odd, or of an upstream that counts what it likes. */
import { createBody, createOrder, MODEL, ROUTES, type Route } from "../orders.ts";
import { type Attack, repeat, type Target } from "./attack.ts";
import { openCall, sendCall } from "./raw-call.ts";

const routeOf = (index: number): Route => ROUTES[index % ROUTES.length] ?? ROUTES[0];

/** Each at another moment: behind its headers, in its body, before the answer, in the middle of it. */
const aborts: Attack = (target) =>
  repeat(target.isLong ? 2_400 : 300, target.isLong ? 40 : 20, async (index) => {
    const route = routeOf(index);
    const stream = index % 2 === 0;
    const order = createOrder({ tokenMs: 10, outputTokens: 30 });
    const body = Buffer.from(createBody(route, order, { stream }));
    const key = index % 4 === 0 ? target.keys.paired : target.keys.roomy;
    const call = openCall(target, { key, path: route, length: body.length });
    const phase = Math.floor(index / 2) % 5;
    if (phase === 0) await call.write(Buffer.alloc(0));
    if (phase === 1) await call.write(body.subarray(0, body.length / 2));
    if (phase > 1) {
      await call.write(body);
      call.end();
    }
    if (phase === 3) await new Promise((resolve) => setTimeout(resolve, 5 * (index % 20)));
    if (phase === 4) await call.begun;
    call.leave();
    await call.over;
  });

/** Behind their headers, hundreds at a time: the way ahead of the admission is for all. */
const abandoned: Attack = async (target) => {
  const calls = Array.from({ length: target.isLong ? 600 : 250 }, (_, index) =>
    openCall(target, { key: target.keys.roomy, path: routeOf(index), length: 100 }),
  );
  await Promise.all(calls.map((call) => call.write(Buffer.alloc(0))));
  // Another request of the key is answered behind all of them.
  await send(target, 0);
  for (const call of calls) call.leave();
  await Promise.all(calls.map((call) => call.over));
};

/** Prompts of 90,000 tokens, by the upstream's count, in some hundred bytes; some of them are given up. */
const overheads: Attack = (target) =>
  repeat(target.isLong ? 600 : 90, 12, async (index) => {
    const tools = index % 3 === 0 && routeOf(index) === "/v1/chat/completions" ? { tools: TOOLS } : {};
    if (index % 5 !== 4) {
      await send(target, index, { promptTokens: 90_000 }, tools);
      return;
    }
    const body = Buffer.from(createBody(routeOf(index), createOrder({ tokenMs: 20 }), tools));
    const call = openCall(target, { key: target.keys.roomy, path: routeOf(index), length: body.length });
    await call.write(body);
    call.end();
    await new Promise((resolve) => setTimeout(resolve, 100));
    call.leave();
    await call.over;
  });

const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];

/** Each another one: of models, tags, metadata, users. */
const names: Attack = (target) =>
  repeat(target.isLong ? 4_000 : 500, 16, async (index) => {
    const name = `name-${index}-${"n".repeat(40)}`;
    switch (index % 4) {
      case 0:
        return await send(target, index, {}, { model: `acme/${name}` });
      case 1:
        return await send(target, index, {}, {}, { "x-tags": `team=${name},other${index}=${name}` });
      case 2:
        return await send(target, index, {}, { metadata: { [name]: name, user_id: name }, user: name });
      default:
        return await sendCall(target, { method: "GET", path: `/v1/models/${name}`, key: target.keys.roomy });
    }
  });

/** Keys whose rate, cap and number of requests at a time are reached, again and again. */
const ownLimits: Attack = (target) =>
  repeat(target.isLong ? 4_000 : 600, 24, async (index) => {
    const { narrow, spent, paired } = target.keys;
    const key = [narrow, spent, paired][index % 3] ?? narrow;
    const route = routeOf(index);
    return sendCall(target, { key, path: route, body: createBody(route, createOrder({ tokenMs: 2 })) });
  });

/** Fields and headers that steer at a provider, lift limits, name what is stored or bill what nobody prices. */
const FIELDS: readonly object[] = [
  { n_predict: 1_000_000, n_cmpl: 50, max_new_tokens: 1_000_000 },
  { models: ["expensive"], fallbacks: ["expensive"], route: "fallback" },
  { previous_response_id: "resp_1" },
  { conversation: "conv_1", background: "true" },
  { background: 1, store: true },
  { input: [{ id: "msg_1" }] },
  { max_tokens: 0, max_completion_tokens: 0 },
  { n: 128 },
  { tools: [{ type: "web_search" }, { type: "code_interpreter", container: { type: "auto" } }] },
  { tools: [{ type: "web_search_20250305", name: "web_search" }] },
  { mcp_servers: [{ type: "url", url: "http://169.254.169.254/" }] },
  { speed: "fast", inference_geo: "us", service_tier: "priority" },
  {
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "file:///etc/passwd" } }] }],
  },
  { stream_options: { include_usage: false } },
  { __proto__: { admin: true }, constructor: { prototype: {} } },
  { model: "x".repeat(100_000) },
  { model: { id: MODEL } },
  { stop: Array.from({ length: 10_000 }, () => "x") },
];
const HEADERS: readonly Record<string, string>[] = [
  { "anthropic-beta": "context-1m-2025-08-07" },
  { "x-amzn-bedrock-accept": "a", "x-amzn-sagemaker-target-model": "b", "azureml-model-deployment": "c" },
  { "x-goog-user-project": "victim", "ocp-apim-subscription-key": "k", "private-token": "t" },
  { "x-http-method-override": "DELETE", "x-original-url": "/admin", "x-forwarded-for": "127.0.0.1" },
  { "x-igw-upstream": "counted", "x-igw-organization": "victim", "x-envoy-original-path": "/healthz" },
  { "x-gateway-destination-endpoint": "169.254.169.254:80", "x-data-parallel-rank": "7" },
  { "x-request-id": "req_of-somebody-else", traceparent: "00-nonsense-01" },
  { "content-encoding": "gzip" },
  { "content-type": "application/grpc" },
  { te: "trailers", "grpc-timeout": "1n" },
];

const oddRequests: Attack = (target) =>
  repeat((FIELDS.length + HEADERS.length) * (target.isLong ? 90 : 12), 16, (index) => {
    const kind = index % (FIELDS.length + HEADERS.length);
    const turn = Math.floor(index / (FIELDS.length + HEADERS.length));
    return send(target, turn, {}, FIELDS[kind] ?? {}, HEADERS[kind - FIELDS.length] ?? {});
  });

function send(
  target: Target,
  turn: number,
  order: Parameters<typeof createOrder>[0] = {},
  fields: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const path = routeOf(turn);
  const body = createBody(path, createOrder(order), { stream: turn % 2 === 0, ...fields });
  return sendCall(target, { key: target.keys.roomy, path, body, headers });
}

export const REQUEST_ATTACKS = {
  "requests given up at every moment": aborts,
  "hundreds abandoned behind their headers": abandoned,
  "prompts that teach overheads": overheads,
  "names by the thousand": names,
  "own limits exceeded": ownLimits,
  "odd fields and headers": oddRequests,
} satisfies Record<string, Attack>;
