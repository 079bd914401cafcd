/**
 * An identity provider whose keys were fetched and then go away, hang, turn to nonsense or are rotated under load. Envoy runs
 * with what `up` has rendered, but asks every second: the least that the configuration takes is a minute.
 */
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../../support/chat-stack.ts";
import { type HttpAnswer, send } from "../../support/http.ts";
import { type SideEnvoy, startSideEnvoy } from "../../support/side-envoy.ts";
import { createSigningKey, type SigningKey } from "../../support/token-issuer.ts";
import { readFailedFetches } from "../edge/envoy-counters.ts";
import { BOUND, withTokenStack } from "./token-stack.ts";

const tokens = withTokenStack({ workers: 2 });
let envoy: SideEnvoy;
let first: SigningKey;

beforeAll(async () => {
  const { dir } = tokens.chat.stack;
  const bootstrap = await readFile(join(dir, "run/envoy.yaml"), "utf8");
  envoy = await startSideEnvoy({
    bootstrap,
    dir,
    name: "eager",
    edit: ({ manager }) => askEachSecond(manager),
  });
  first = tokens.corp.keys[0] ?? (await createSigningKey("none"));
});
afterAll(() => envoy?.stop());
afterEach(async () => {
  tokens.corp.onFetch = null;
  tokens.corp.keys = [first];
  await nextFetches();
});

interface Filter {
  readonly name: string;
  readonly typed_config: {
    readonly providers: Record<string, { remote_jwks: Record<string, unknown> }>;
  };
}

function askEachSecond(manager: Record<string, unknown>): void {
  const filter = (manager["http_filters"] as Filter[]).find(({ name }) => name.endsWith("jwt_authn"));
  for (const { remote_jwks: keys } of Object.values(filter?.typed_config.providers ?? {})) {
    expect(keys["cache_duration"]).toBe("60s");
    keys["cache_duration"] = "1s";
  }
}

/** Envoy asks once for each of the two headers: every one has asked since, and one of them has had its answer. */
const nextFetches = (): Promise<void> => tokens.corp.waitForFetches(tokens.corp.fetches + 4);

const ask = (token: string): Promise<HttpAnswer> =>
  send(envoy.baseUrl, { path: CHAT_PATH, headers: { authorization: `Bearer ${token}` }, body: chatBody() });
const sign = (key?: SigningKey): Promise<string> => tokens.corp.sign(BOUND, key === undefined ? {} : { key });

/** Between the requests of a client: without one they would have both cores for themselves. */
const PAUSE_MS = 200;

/** Clients that ask again and again until what runs beside them is over; each kind of answer once. */
async function whileAsking(token: string, run: () => Promise<void>): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>();
  const state = { isOver: false };
  const clients = Array.from({ length: 2 }, async () => {
    while (!state.isOver) {
      await wait(PAUSE_MS);
      const answer = await ask(token);
      const outcome = answer.status === 200 ? "200" : `${answer.status} ${answer.text}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  });
  try {
    await run();
  } finally {
    state.isOver = true;
    await Promise.all(clients);
  }
  return outcomes;
}

type OnFetch = (response: ServerResponse) => void;
const FAULTS: readonly [string, OnFetch][] = [
  ["goes away", (response) => void response.destroy()],
  ["answers an error", (response) => void response.writeHead(500).end("no")],
  ["answers a page", (response) => void response.end("<html>Sign in</html>")],
  [
    "answers keys of which none can be read",
    (response) => void response.end('{"keys": [{"kty": "RSA", "n": "x"}]}'),
  ],
  ["answers a set without keys", (response) => void response.end('{"keys": []}')],
  ["answers JSON that is no set of keys", (response) => void response.end('{"error": "maintenance"}')],
  ["leads elsewhere", (response) => void response.writeHead(302, { location: "/sign-in" }).end()],
];

describe("an identity provider whose keys Envoy has", () => {
  it.each(FAULTS)("refuses nobody once it %s", async (_name, onFetch) => {
    const token = await sign();
    expect((await ask(token)).status).toBe(200);
    const failedBefore = await readFailedFetches(envoy.adminSocket);
    const outcomes = await whileAsking(token, async () => {
      tokens.corp.onFetch = onFetch;
      await nextFetches();
    });
    expect([...outcomes.keys()]).toEqual(["200"]);
    expect((await send(envoy.baseUrl, { path: "/readyz" })).status).toBe(200);
    expect(await readFailedFetches(envoy.adminSocket)).toBeGreaterThan(failedBefore);
  });

  it("makes nobody wait, with a token or a key, while its answer does not come", async () => {
    const token = await sign();
    const hanging: ServerResponse[] = [];
    tokens.corp.onFetch = (response) => void hanging.push(response);
    await tokens.corp.waitForFetches(tokens.corp.fetches + 2);
    const headers = { authorization: `Bearer ${tokens.chat.key.key}` };
    const answers = [
      await ask(token),
      await send(envoy.baseUrl, { path: CHAT_PATH, headers, body: chatBody() }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    // Envoy has not given all of these up yet: both came while it waited.
    expect(hanging.some((response) => !response.closed)).toBe(true);
    for (const response of hanging) response.end('{"keys": []}');
  });
});

describe("keys that are rotated under load", () => {
  it("refuse nobody whose key is still published, and know the new one from the next fetch on", async () => {
    const next = await createSigningKey("login.example.com-2", "ES256");
    const [old, renewed] = [await sign(first), await sign(next)];
    expect((await ask(renewed)).status).toBe(401);
    const outcomes = await whileAsking(old, async () => {
      tokens.corp.keys = [first, next];
      await nextFetches();
      await expect.poll(async () => (await ask(renewed)).status, { timeout: 20_000 }).toBe(200);
      // The provider signs with the new one from now on; tokens of the old one are still about.
      tokens.corp.keys = [next, first];
      await nextFetches();
    });
    expect([...outcomes.keys()]).toEqual(["200"]);
    const ofRenewed = await whileAsking(renewed, async () => {
      tokens.corp.keys = [next];
      await nextFetches();
      await expect.poll(async () => (await ask(old)).status, { timeout: 20_000 }).toBe(401);
    });
    expect([...ofRenewed.keys()]).toEqual(["200"]);
    expect((await ask(old)).text).toContain("a key that its issuer does not publish");
  });
});
