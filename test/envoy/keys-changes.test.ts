/** What a person changes takes effect on the very next request on every worker: proven under load on all of them. */
import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { withChatStack, withSharedChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { readError } from "../support/http.ts";
import { runLoad } from "../support/running-load.ts";
import { waitFor } from "../support/wait.ts";
import { readEndpoints } from "./access/worker-processes.ts";

const WORKERS = byExtent({ push: 2, nightly: 4 });
const CONNECTIONS = 6 * WORKERS;
/** Before and after a change: enough for each connection and each worker several times. */
const REQUESTS = 4 * CONNECTIONS;
const chat = byExtent({
  push: withSharedChatStack,
  nightly: () => withChatStack(() => ({ workers: WORKERS })),
})();
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
afterAll(() => agent.destroy());

interface Seen {
  /** When the request was sent, `performance.now()`. */
  readonly atMs: number;
  readonly answeredAtMs: number;
  /** "200", or status and code. */
  readonly outcome: string;
}

/** One request after the other on each connection, until `stop`. */
function startLoad(key: string): { seen: Seen[]; stop: () => Promise<void> } {
  const seen: Seen[] = [];
  const load = runLoad(CONNECTIONS, async () => {
    const atMs = performance.now();
    const answer = await chat.stack.send({ path: "/v1/models", key, agent });
    const outcome = answer.status === 200 ? "200" : `${answer.status} ${readError(answer).code}`;
    seen.push({ atMs, answeredAtMs: performance.now(), outcome });
  });
  return { seen, ...load };
}

/**
 * Keeps sending with `key` on all workers while `change` happens. Returns what became of the requests that were
 * answered before the change was asked for, and of those sent after it was acknowledged.
 */
async function changeUnderLoad(key: string, change: () => Promise<unknown>) {
  const sockets = join(chat.stack.dir, "run");
  const load = startLoad(key);
  await waitFor("load before the change", () => load.seen.length > REQUESTS);
  const askedAtMs = performance.now();
  const callsBefore = await readEndpoints(sockets);
  await change();
  const doneAtMs = performance.now();
  const sentAfter = () => load.seen.filter(({ atMs }) => atMs >= doneAtMs);
  await waitFor("load after the change", () => sentAfter().length > REQUESTS);
  await load.stop();
  const callsAfter = await readEndpoints(sockets);
  const used = callsAfter.filter(({ calls }, index) => calls > (callsBefore[index]?.calls ?? 0));
  const outcomes = (list: readonly Seen[]) => [...new Set(list.map(({ outcome }) => outcome))];
  return {
    before: outcomes(load.seen.filter(({ answeredAtMs }) => answeredAtMs < askedAtMs)),
    after: outcomes(sentAfter()),
    workers: used.length,
  };
}

/** A key that was made through the management API, as a person makes it. */
async function createKey(): Promise<{ key: string; path: string; organization: string }> {
  const name = `Acme ${randomUUID()}`;
  const { id } = await chat.stack.admin("POST", "/api/organizations", { name, currency: "USD" });
  const organization = `/api/organizations/${String(id)}`;
  const settings = { name: "ci", requests_per_minute: 1_000_000 };
  const created = await chat.stack.admin("POST", `${organization}/keys`, settings);
  return { key: String(created["key"]), path: `${organization}/keys/${String(created["id"])}`, organization };
}

describe("on the very next request on every worker", () => {
  it.each<{
    name: string;
    outcome: string;
    change: (key: { path: string; organization: string }) => Promise<unknown>;
  }>([
    {
      name: "a key that was disabled is refused",
      outcome: "403 key_disabled",
      change: ({ path }) => chat.stack.admin("PATCH", path, { disabled: true }),
    },
    {
      name: "a key that was deleted is refused",
      outcome: "401 invalid_api_key",
      change: ({ path }) => chat.stack.admin("DELETE", path),
    },
    {
      name: "a key that was rotated without grace is refused",
      outcome: "401 invalid_api_key",
      change: ({ path }) => chat.stack.admin("POST", `${path}/rotate`, { grace_seconds: 0 }),
    },
    {
      name: "a key that was rotated with grace still passes",
      outcome: "200",
      change: ({ path }) => chat.stack.admin("POST", `${path}/rotate`, { grace_seconds: 60 }),
    },
    {
      name: "every key of an organization is refused after revoke-all",
      outcome: "401 invalid_api_key",
      change: ({ organization }) => chat.stack.admin("POST", `${organization}/keys/revoke-all`),
    },
    {
      name: "a key whose user was disabled is refused",
      outcome: "403 user_disabled",
      change: async ({ path, organization }) => {
        const { id } = await chat.stack.admin("POST", `${organization}/users`, { name: "Zoë" });
        await chat.stack.admin("PATCH", path, { user_id: id });
        await chat.stack.admin("PATCH", `${organization}/users/${String(id)}`, { disabled: true });
      },
    },
    {
      name: "every key of a suspended organization is refused",
      outcome: "403 organization_suspended",
      change: ({ organization }) => chat.stack.admin("PATCH", organization, { suspended: true }),
    },
  ])("$name", async ({ outcome, change }) => {
    const created = await createKey();
    const result = await changeUnderLoad(created.key, () => change(created));
    expect(result).toEqual({ before: ["200"], after: [outcome], workers: WORKERS });
  });

  it.each<{ name: string; outcome: string; field: object; back: object; ofOrganization?: true }>([
    {
      name: "a key that was enabled again",
      outcome: "403 key_disabled",
      field: { disabled: true },
      back: { disabled: false },
    },
    {
      name: "a key of an organization that is no longer suspended",
      outcome: "403 organization_suspended",
      field: { suspended: true },
      back: { suspended: false },
      ofOrganization: true,
    },
  ])("$name passes", async ({ outcome, field, back, ofOrganization }) => {
    const { key, path, organization } = await createKey();
    const target = ofOrganization === true ? organization : path;
    await chat.stack.admin("PATCH", target, field);
    const result = await changeUnderLoad(key, () => chat.stack.admin("PATCH", target, back));
    expect(result).toEqual({ before: [outcome], after: ["200"], workers: WORKERS });
  });

  it("the key that a rotation gave passes", async () => {
    const { path } = await createKey();
    const rotated = await chat.stack.admin("POST", `${path}/rotate`, { grace_seconds: 0 });
    const load = startLoad(String(rotated["key"]));
    await waitFor("some load", () => load.seen.length > REQUESTS);
    await load.stop();
    expect(new Set(load.seen.map(({ outcome }) => outcome))).toEqual(new Set(["200"]));
  });

  it("a changed rate is in the headers", async () => {
    const { key, path } = await createKey();
    await chat.stack.send({ path: "/v1/models", key });
    await chat.stack.admin("PATCH", path, { requests_per_minute: 60_000 });
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => chat.stack.send({ path: "/v1/models", key, agent })),
    );
    expect(new Set(answers.map((answer) => answer.headers["x-ratelimit-limit-requests"]))).toEqual(
      new Set(["60000"]),
    );
  });
});

describe("by the clock of Redis", () => {
  /** Sends until the first refusal, then some more: when it came, and whether anything passed after it. */
  async function waitForRefusal(key: string) {
    const load = startLoad(key);
    const refused = () => load.seen.filter(({ outcome }) => outcome !== "200");
    await waitFor("a refusal", () => refused().length > REQUESTS);
    await load.stop();
    const answers = refused();
    const first = Math.min(...answers.map(({ answeredAtMs }) => answeredAtMs));
    // Requests in flight at that moment may still have passed; one sent after it must not.
    const late = load.seen.filter(({ atMs, outcome }) => atMs > first && outcome === "200");
    return {
      outcomes: [...new Set(answers.map(({ outcome }) => outcome))],
      late: late.length,
      firstAnsweredAtMs: first,
    };
  }

  it("a key is refused from its expiry on, on every worker", async () => {
    const expiresAtMs = Date.now() + 1_500;
    const { key } = await chat.stack.createKey({ expiresAtMs });
    const { outcomes, late, firstAnsweredAtMs } = await waitForRefusal(key);
    expect({ outcomes, late }).toEqual({ outcomes: ["403 key_expired"], late: 0 });
    // Two clocks of one host, read at different moments.
    expect(performance.timeOrigin + firstAnsweredAtMs).toBeGreaterThan(expiresAtMs - 100);
  });

  it("a rotated key passes as long as its grace lasts, and not longer", async () => {
    const { key, path } = await createKey();
    const rotatedAtMs = performance.now();
    await chat.stack.admin("POST", `${path}/rotate`, { grace_seconds: 2 });
    const { outcomes, late, firstAnsweredAtMs } = await waitForRefusal(key);
    expect({ outcomes, late }).toEqual({ outcomes: ["401 invalid_api_key"], late: 0 });
    expect(firstAnsweredAtMs - rotatedAtMs).toBeGreaterThan(1_900);
  });
});
