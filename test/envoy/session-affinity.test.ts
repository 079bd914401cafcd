/** Requests of a session stay at one of three servers of their upstream. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import type { SendOptions } from "../support/http.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";

const OFF_MODEL = "acme/echo-off";
const WEIGHTED_MODEL = "acme/echo-weighted";
const PICKED_MODEL = "acme/echo-picked";
const DYING_MODEL = "acme/echo-dying";
const PAIR_MODEL = "acme/echo-pair";
const SESSIONS = Array.from({ length: 24 }, (_, index) => `run ${index}`);

let servers: ScriptedUpstream[] = [];
const getStack = withStack(async () => {
  servers = await Promise.all(Array.from({ length: 5 }, () => startUpstream()));
  const [heavy = "", light = "", other = "", dying = "", lost = ""] = servers.map(({ url }) => url);
  return {
    upstreams: [
      { name: "replicas", urls: [heavy, light, other] },
      { name: "spread", urls: [heavy, light, other] },
      { name: "weighted", endpoints: [{ url: heavy, weight: 8 }, { url: light }, { url: other }] },
      { name: "picked", url: heavy, endpoint_picker: { objective: "batch" } },
      { name: "dying", urls: [heavy, light, dying] },
      { name: "pair", urls: [heavy, lost] },
    ],
    catalog: [
      catalogEntry({ upstream: "replicas" }),
      catalogEntry({ id: OFF_MODEL, upstream: "spread", affinity: "off" }),
      catalogEntry({ id: WEIGHTED_MODEL, upstream: "weighted" }),
      catalogEntry({ id: PICKED_MODEL, upstream: "picked" }),
      catalogEntry({ id: DYING_MODEL, upstream: "dying" }),
      catalogEntry({ id: PAIR_MODEL, upstream: "pair" }),
    ],
  };
});
let key: CreatedKey;

beforeAll(async () => {
  key = await getStack().createKey();
});
beforeEach(() => {
  for (const server of servers) server.reset();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

interface Asked {
  readonly model?: string;
  readonly session?: string;
  readonly key?: string;
  readonly headers?: SendOptions["headers"];
  readonly fields?: object;
}

/** Sends a request; returns the position of its server, and its id. */
async function ask({ model = CHAT_MODEL, session, key: ofKey = key.key, headers, fields }: Asked) {
  const before = servers.map(({ requests }) => requests.length);
  const named = session === undefined ? {} : { "x-session-id": session };
  const body = chatBody({ model, ...fields });
  const answer = await getStack().send({
    path: CHAT_PATH,
    key: ofKey,
    headers: { ...named, ...headers },
    body,
  });
  expect(answer.status).toBe(200);
  const server = servers.findIndex(({ requests }, index) => requests.length > (before[index] ?? 0));
  return { server, requestId: String(answer.headers["x-request-id"]) };
}

/** The server of each session's request. */
async function place(asked: Asked = {}): Promise<number[]> {
  const places: number[] = [];
  for (const session of SESSIONS) places.push((await ask({ session, ...asked })).server);
  return places;
}

describe("requests of a session", () => {
  it("go to the same server, and sessions are spread over all", async () => {
    const places = await place();
    expect(await place()).toEqual(places);
    expect(new Set(places).size).toBeGreaterThan(1);
  });

  it("stay there without a name by their system prompt and first message", async () => {
    const turns = (name: string, more: object[] = []) => ({
      fields: { messages: [{ role: "user", content: `task of ${name}` }, ...more] },
    });
    const later = [
      { role: "assistant", content: "done" },
      { role: "user", content: "next" },
    ];
    for (const name of SESSIONS.slice(0, 6)) {
      const { server } = await ask(turns(name));
      expect((await ask(turns(name, later))).server).toBe(server);
    }
  });

  it("have a server of their own for each API key", async () => {
    const other = await getStack().createKey();
    expect(await place({ key: other.key })).not.toEqual(await place());
  });

  it("are not steered by a client's internal header, which no server gets", async () => {
    const [first] = SESSIONS;
    const { server } = await ask({ session: first ?? "" });
    for (let sent = 0; sent < 8; sent += 1) {
      const headers = { "x-igw-session": `forged ${sent}` };
      expect((await ask({ session: first ?? "", headers })).server).toBe(server);
    }
    const names = servers.flatMap(({ requests }) => requests.flatMap(({ headers }) => Object.keys(headers)));
    expect(names.filter((name) => name.startsWith("x-igw-") || name === "x-session-id")).toEqual([]);
  });

  it("go to servers by weight", async () => {
    const places = await place({ model: WEIGHTED_MODEL });
    const ofHeavy = places.filter((server) => server === 0).length;
    expect(ofHeavy).toBeGreaterThan(places.length / 2);
  });

  it("are spread with `affinity: off`", async () => {
    const places = new Set<number>();
    for (let sent = 0; sent < 20; sent += 1) {
      places.add((await ask({ model: OFF_MODEL, session: "run" })).server);
    }
    expect(places.size).toBeGreaterThan(1);
  });
});

describe("requests for an endpoint picker", () => {
  it("name the organization and the configured objective, whatever the client sends", async () => {
    const headers = {
      "x-gateway-fairness-id": "another",
      "x-gateway-inference-objective": "urgent",
      "x-gateway-destination-endpoint": "10.0.0.1:80",
    };
    await ask({ model: PICKED_MODEL, session: "run", headers });
    const seen = Object.entries(servers[0]?.lastRequest.headers ?? {});
    expect(seen.filter(([name]) => name.startsWith("x-gateway-"))).toEqual([
      ["x-gateway-fairness-id", key.organizationId],
      ["x-gateway-inference-objective", "batch"],
    ]);
  });
});

describe("what named the session of a pinned request", () => {
  it("is in the request log and in `explain`", async () => {
    const own = await getStack().createKey();
    const rows: readonly (readonly [Asked, string | null])[] = [
      [{ session: "run" }, "x-session-id"],
      [{ fields: { session_id: "run" } }, "session_id"],
      [{ headers: { "x-session-affinity": "run" } }, "x-session-affinity"],
      [{ fields: { prompt_cache_key: "run" } }, "prompt_cache_key"],
      [{}, "prompt"],
      [{ model: OFF_MODEL, session: "run" }, null],
    ];
    for (const [asked, pinnedBy] of rows) {
      const { requestId } = await ask({ ...asked, key: own.key });
      const path = `/api/organizations/${own.organizationId}/requests/${requestId}`;
      expect(await getStack().admin("GET", path)).toMatchObject({ pinned_by: pinnedBy });
    }
    const dir = join(getStack().dir, "data/requests");
    const logged = () =>
      readdirSync(dir)
        .flatMap((name) => readFileSync(join(dir, name), "utf8").split("\n"))
        .filter((line) => line.includes(own.organizationId))
        .map((line) => (JSON.parse(line) as { pinned_by: string | null }).pinned_by);
    const lines = await waitFor("the lines", () => (logged().length === rows.length ? logged() : false));
    const inOrder = (all: readonly (string | null)[]) =>
      all.map(String).toSorted((one, other) => (one < other ? -1 : 1));
    expect(inOrder(lines)).toEqual(inOrder(rows.map(([, pinnedBy]) => pinnedBy)));
  });
});

describe("sessions of a server that dies", () => {
  it("move to another one and stay there; nearly all other sessions don't move", async () => {
    const dead = 3;
    const before = await place({ model: DYING_MODEL });
    expect(before).toContain(dead);
    await servers[dead]?.close();
    const after = await place({ model: DYING_MODEL });
    expect(after).not.toContain(dead);
    // A first request may find its server dead and be retried anywhere; then the server is left out.
    const settled = async () => {
      const [one, next] = [await place({ model: DYING_MODEL }), await place({ model: DYING_MODEL })];
      return one.every((server, index) => server === next[index]) ? one : false;
    };
    const places = await waitFor("the moved sessions stay", settled);
    const others = before.flatMap((server, index) => (server === dead ? [] : [index]));
    // A few more may move: where concurrent requests would exceed the bound of load.
    const moved = others.filter((index) => places[index] !== before[index]);
    expect(moved.length).toBeLessThanOrEqual(others.length / 4);
  });

  it("move to the only other one, also while it has all the load", async () => {
    const places = await place({ model: PAIR_MODEL });
    const sessionsOf = (server: number) => SESSIONS.filter((_, index) => places[index] === server);
    const gate = createGate();
    for (const server of servers) {
      server.answer({ kind: "json", body: textCompletion("late", null), before: gate });
    }
    const session = sessionsOf(0)[0]!;
    const busy = Array.from({ length: 12 }, () => ask({ model: PAIR_MODEL, session }).catch(String));
    const sent = () => servers.flatMap(({ requests }) => requests).length;
    await waitFor("the first server to be busy", () => sent() === places.length + busy.length);
    await servers[4]?.close();
    servers[0]?.answer({ kind: "echo" });
    for (const moved of sessionsOf(4).slice(0, 4)) {
      expect((await ask({ model: PAIR_MODEL, session: moved })).server).toBe(0);
    }
    gate.release();
    expect(await Promise.all(busy)).not.toContainEqual(expect.any(String));
  });
});
