import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../../src/data-path/auth/key-format.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_GROUP_SETTINGS } from "../../src/shared/settings/user-group.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { type FaultStack, MODEL, startFaultStack, WORKERS } from "./fault-stack.ts";
import type { Tenants } from "./fault-tenants.ts";
import { START_TIMEOUT_MS } from "./machine.ts";

const GRACE_SECONDS = 3;

let faults: FaultStack;
let tenants: Tenants;
beforeAll(async () => {
  faults = await startFaultStack({ settlement: { grace_seconds: GRACE_SECONDS } });
  tenants = await faults.createTenants(1_000_000);
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 60_000);

function ask(key: string): Promise<HttpAnswer> {
  const order = { id: crypto.randomUUID(), promptTokens: 40, outputTokens: 1, tokenMs: 0 };
  const body = { model: MODEL, max_tokens: 1, messages: [{ role: "user", content: JSON.stringify(order) }] };
  return faults.stack.send({ path: "/v1/chat/completions", key, body });
}

/** Asks so often that each worker has had the key. */
async function answersAlways({ key }: CreatedKey): Promise<boolean> {
  for (let count = 0; count < 8 * WORKERS; count += 1) if ((await ask(key)).status !== 200) return false;
  return true;
}

/** Of one prompt of forty tokens and one generated. */
const COST_CENTS = 42;

describe("while Redis is away", () => {
  it("refuses nothing for a cap that spend has not reached, however the answers before it arrived", async () => {
    const clients = 8;
    const each = 6;
    const spentCents = clients * each * COST_CENTS;
    const created = Array.from({ length: 12 }, () => faults.createTenants(spentCents + COST_CENTS - 1));
    const keys = (await Promise.all(created)).map(({ capped }) => capped);
    // Charges and admissions of a key beside one another, on the connection of either worker.
    const runClients = keys.flatMap(({ key }) =>
      Array.from({ length: clients }, async () => {
        for (let count = 0; count < each; count += 1) expect((await ask(key)).status).toBe(200);
      }),
    );
    await Promise.all(runClients);
    await faults.redis.kill();
    const last = await Promise.all(keys.map(({ key }) => ask(key)));
    expect(
      last.map((answer) => [answer.status, answer.status === 200 ? "" : readError(answer).message]),
    ).toEqual(keys.map(() => [200, ""]));
    await faults.redis.restart();
    await faults.waitUntilSettled(keys, 15_000);
    const spends = await Promise.all(
      keys.map(({ organizationId }) => faults.store.readSpend(organizationId, null)),
    );
    expect(spends.map(({ organizationMicrocents }) => organizationMicrocents)).toEqual(
      keys.map(() => BigInt(spentCents + COST_CENTS) * 1_000_000n),
    );
  });

  it("goes on by the caps of a group's week, too, and refuses what they refuse", async () => {
    const { open } = await faults.createTenants(1_000_000);
    const { organizationId, id: keyId } = open;
    const left = 3 * COST_CENTS;
    const cents = 4 * WORKERS * COST_CENTS + left;
    const settings = { ...defaultsOf(USER_GROUP_SETTINGS), name: "Team" };
    const limits = [{ period: "week", kind: "cap", cents }] as const;
    const made = await faults.store.createGroup(organizationId, { ...settings, limits });
    const groupId = made.outcome === "created" ? made.owner.id : null;
    await faults.store.changeKey({ organizationId, keyId }, { groupId }, null);
    // At once, so that every worker knows the key: one after the other, all may go to the same worker.
    const known = await Promise.all(Array.from({ length: 4 * WORKERS }, () => ask(open.key)));
    expect(known.map(({ status }) => status)).toEqual(known.map(() => 200));
    await faults.redis.kill();
    // Each worker has a count of its own, and on a starved machine one may get its first request late.
    const words: string[] = [];
    for (let refusedInRow = 0; refusedInRow < 8 * WORKERS;) {
      const answer = await ask(open.key);
      words.push(answer.status === 200 ? "200" : String(readError(answer).code));
      refusedInRow = words.at(-1) === "200" ? 0 : refusedInRow + 1;
      expect(words.filter((word) => word === "200").length).toBeLessThan(16 * WORKERS);
    }
    expect(new Set(words)).toEqual(new Set(["200", "group_hard_cap_reached"]));
    expect(words.slice(0, 3)).toEqual(["200", "200", "200"]);
    await faults.redis.restart();
    await faults.waitUntilSettled([open], 15_000);
    const { limits: all } = await faults.store.readLimits(organizationId, { keyId, owners: groupId ?? "" });
    const served = 4 * WORKERS + words.filter((word) => word === "200").length;
    const ofGroup = all.filter(({ scope }) => scope === "group");
    expect(ofGroup.map(({ spentMicrocents }) => spentMicrocents)).toEqual([
      BigInt(served * COST_CENTS) * 1_000_000n,
    ]);
  });

  it("known keys continue for the grace period and are then told to wait, until Redis responds again", async () => {
    const { open, strict } = tenants;
    const before = faults.upstream.accounts.size;
    expect(await answersAlways(open)).toBe(true);
    expect(await answersAlways(strict)).toBe(true);
    await faults.redis.kill();
    const startedMs = performance.now();
    expect((await ask(open.key)).status).toBe(200);

    const refused = [
      ["a key of an organization with strict caps", strict.key],
      ["a key that no worker has seen", createKey()],
    ] as const;
    for (const [name, key] of refused) {
      const answer = await ask(key);
      expect([name, answer.status, readError(answer).code]).toEqual([name, 503, "gateway_unavailable"]);
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
      expect(answer.headers["x-service-ratelimit-remaining"]).toBeDefined();
    }

    const over = await waitFor("the end of the grace period", async () => {
      const answer = await ask(open.key);
      return answer.status !== 200 && answer;
    });
    expect(performance.now() - startedMs).toBeGreaterThan(GRACE_SECONDS * 1000 - 1_000);
    expect([over.status, readError(over).code]).toEqual([503, "gateway_unavailable"]);

    await faults.redis.restart();
    // Strict caps: only a worker that has found Redis again lets them through.
    await waitFor("every worker to find Redis again", () => answersAlways(strict));
    expect((await ask(open.key)).status).toBe(200);
    await faults.waitUntilSettled(Object.values(tenants), 15_000);
    const used = faults.upstream.accounts.size;
    const spends = await Promise.all(
      [open, strict].map(({ organizationId }) => faults.store.readSpend(organizationId, null)),
    );
    const charged = spends.reduce((sum, { organizationMicrocents }) => sum + organizationMicrocents, 0n);
    expect(charged).toBe(BigInt(used - before) * BigInt(COST_CENTS) * 1_000_000n);
  });
});
