/** What an operator allows on a route by Envoy's configuration alone: `context_extensions` of ext_authz. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import { type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";
import { waitFor } from "../support/wait.ts";

const OTHER_MODEL = "acme/echo-large";
const MESSAGE = "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute";

const chat = withSharedChatStack([
  catalogEntry(),
  catalogEntry({ id: OTHER_MODEL, upstream_model: "echo-large" }),
]);
const started: SideEnvoy[] = [];
let inside: { key: string; id: string };
let outside: { key: string; id: string };

beforeAll(async () => {
  const [one, two] = [await chat.stack.createKey(), await chat.stack.createKey()];
  inside = { key: one.key, id: one.organizationId };
  outside = { key: two.key, id: two.organizationId };
});
afterAll(async () => {
  for (const envoy of started) await envoy.stop();
});

/** An Envoy whose last route has these extensions. */
async function restrict(name: string, extensions: Record<string, string>): Promise<string> {
  const envoy = await startSideEnvoy({
    bootstrap: readFileSync(join(chat.stack.dir, "run/envoy.yaml"), "utf8"),
    dir: chat.stack.dir,
    name,
    edit: ({ manager }) => {
      const config = manager["route_config"] as { virtual_hosts: { routes: Record<string, unknown>[] }[] };
      const last = config.virtual_hosts[0]!.routes.at(-1)!;
      const override = { "@type": MESSAGE, check_settings: { context_extensions: extensions } };
      const filters = last["typed_per_filter_config"] as object;
      last["typed_per_filter_config"] = { ...filters, "envoy.filters.http.ext_authz": override };
    },
  });
  started.push(envoy);
  const headers = { authorization: `Bearer ${inside.key}` };
  const isServed = async () => (await send(envoy.baseUrl, { path: "/v1/models", headers })).status !== 503;
  await waitFor("the Envoy to see a worker", isServed);
  return envoy.baseUrl;
}

function ask(baseUrl: string, key: string, model: string): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${key}` };
  return send(baseUrl, { path: CHAT_PATH, headers, body: chatBody({ model }) });
}

async function listModels(baseUrl: string, key: string): Promise<unknown[]> {
  const answer = await send(baseUrl, { path: "/v1/models", headers: { authorization: `Bearer ${key}` } });
  return (answer.json()["data"] as { id: string }[]).map(({ id }) => id);
}

describe("allowed_models on a route", () => {
  it("lets its models through and refuses the others, which reach no upstream", async () => {
    const baseUrl = await restrict("models", { allowed_models: `${CHAT_MODEL}, acme/unknown` });
    expect((await ask(baseUrl, inside.key, CHAT_MODEL)).status).toBe(200);
    const before = chat.upstream.requests.length;
    const { status, code, breaches } = summarizeError(await ask(baseUrl, inside.key, OTHER_MODEL));
    expect({ status, code, breaches }).toEqual({ status: 403, code: "model_not_allowed", breaches: [] });
    expect(chat.upstream.requests.length).toBe(before);
    expect(await listModels(baseUrl, inside.key)).toEqual([CHAT_MODEL]);
  });

  it("never gives a key more than its own list", async () => {
    const { key } = await chat.stack.createKey({ allowedModels: [OTHER_MODEL] });
    const baseUrl = await restrict("both", { allowed_models: CHAT_MODEL });
    expect((await ask(baseUrl, key, CHAT_MODEL)).status).toBe(403);
    expect((await ask(baseUrl, key, OTHER_MODEL)).status).toBe(403);
    expect(await listModels(baseUrl, key)).toEqual([]);
  });
});

describe("allowed_organizations on a route", () => {
  it("lets its organizations through; others may use no model there, and all of them elsewhere", async () => {
    const baseUrl = await restrict("organizations", { allowed_organizations: inside.id });
    expect((await ask(baseUrl, inside.key, CHAT_MODEL)).status).toBe(200);
    expect(summarizeError(await ask(baseUrl, outside.key, CHAT_MODEL))).toMatchObject({
      status: 403,
      code: "model_not_allowed",
    });
    expect(await listModels(baseUrl, outside.key)).toEqual([]);
    expect((await ask(chat.stack.baseUrl, outside.key, CHAT_MODEL)).status).toBe(200);
  });

  it("cannot be set by a client", async () => {
    const baseUrl = await restrict("forged", { allowed_organizations: inside.id });
    const headers = {
      authorization: `Bearer ${outside.key}`,
      allowed_organizations: outside.id,
      "allowed-organizations": outside.id,
    };
    expect((await send(baseUrl, { path: CHAT_PATH, headers, body: chatBody() })).status).toBe(403);
  });
});
