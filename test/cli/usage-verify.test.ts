/** `usage verify` of what limits count, as an operator runs it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { LIMIT_PERIODS } from "../../src/shared/settings/limits.ts";
import { organizationKey, spendKey } from "../../src/data-path/store/redis/keys.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { BilledRequest } from "../../src/shared/stored/settlement.ts";
import { windowName } from "../../src/data-path/store/usage/windows.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  chargeInput,
  connectStore,
  createIdentity,
  createTestOrganization,
  FINAL,
  type StoreUnderTest,
} from "../store/fixture.ts";
import { firstOnPush } from "../support/extent.ts";
import { findFreePort } from "../support/free-port.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { callCli } from "./call-cli.ts";
import { writeUsageConfig } from "./usage-config.ts";

const COST = 2_000_000n;

let redis: PrivateRedis;
let opened: StoreUnderTest;
let dir = "";
let config = "";
beforeAll(async () => {
  redis = await startRedis();
  opened = await connectStore({ url: redis.url }, () => redis.stop());
  dir = mkdtempSync(join(tmpdir(), "igw-verify-"));
  config = writeUsageConfig(dir, redis.url);
});
afterAll(async () => {
  await opened.stop();
  rmSync(dir, { recursive: true });
});

/** What was charged last: of a user of a group whose limits are of every period. */
let charged: BilledRequest;
let userId = "";
beforeEach(async () => {
  await opened.client.flushall();
  const { store } = opened;
  const { id } = await createTestOrganization(store);
  const limits = LIMIT_PERIODS.map((period) => ({ period, kind: "cap" as const, cents: 100_000 }));
  const groupId = await addTestGroup(store, id, { limits });
  userId = await addTestUser(store, id, { name: "Zoë\u001b[2J", groupId, limits });
  const key = await addTestKey(store, id, { userId });
  const identity = { ...(await createIdentity(store, key)), owners: formatOwnerIds({ userId, groupId }) };
  charged = identity;
  await store.charge(chargeInput(identity, 1, COST, { final: FINAL }));
});

const verify = (...more: string[]) =>
  callCli(["usage", "verify", "--config", config, "--month", charged.month, "--requests", dir, ...more]);

/** Against usage: there is no log of these requests. */
async function readWindows() {
  const { code, stdout } = await verify("--json");
  const { differences, windows } = JSON.parse(stdout) as {
    readonly differences: readonly Readonly<Record<string, unknown>>[];
    readonly windows: Readonly<Record<string, unknown>>;
  };
  return { code, windows, differences: differences.filter(({ kind }) => kind === "spend_of_window") };
}

it("says how many windows were held against usage, and finds nothing where nobody has touched them", async () => {
  const { windows, differences } = await readWindows();
  expect(differences).toEqual([]);
  expect(windows).toMatchObject({ organizations: 1, notCompared: [] });
  // At least this day, its week, its month and the total.
  expect(windows["compared"]).toBeGreaterThanOrEqual(4);
  const { stdout } = await verify();
  expect(stdout).toContain(`\nWindows of limits: ${String(windows["compared"])} of 1 organizations compared`);
});

it("names the owner of a counter that somebody has changed, its window and both figures", async () => {
  const { organizationId, day } = charged;
  const key = spendKey(organizationId, windowName("day", day));
  await opened.client.hincrby(key, `user:${userId}`, 7);
  const { code, differences } = await readWindows();
  expect(code).toBe(1);
  expect(differences).toEqual([
    {
      organizationId,
      kind: "spend_of_window",
      owner: { scope: "user", id: userId, name: "Zoë\u001b[2J" },
      period: "day",
      window: day,
      figure: "cost_microcents",
      expected: String(COST),
      found: String(COST + 7n),
    },
  ]);
  // Nothing that a terminal would obey.
  expect((await verify()).stdout).toContain(
    `\n  ${organizationId} user "Zoë\ufffd[2J" (${userId}) on ${day}: cost_microcents: expected 2000000, found 2000007 (7); ` +
      "the count of its limits isn't the sum of its usage rows\n",
  );
});

it("exits with 1 for a window's difference alone, and with 0 without one", async () => {
  // Without the request log there is nothing else to differ.
  const alone = () => callCli(["usage", "verify", "--config", config, "--month", charged.month]);
  expect(await alone()).toMatchObject({ code: 0, stdout: expect.stringContaining("No difference.") });
  await opened.client.hincrby(spendKey(charged.organizationId, "total"), "organization", -1);
  expect(await alone()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("in total: cost_microcents: expected 2000000, found 1999999 (-1)"),
  });
});

it("says which windows it does not compare, and why", async () => {
  const { organizationId } = charged;
  // As while a counter begins.
  const record = organizationKey(organizationId);
  await opened.client.hset(record, { windows: "", windows_seeding: "week=week:1" });
  const { windows } = await readWindows();
  expect(windows["notCompared"]).toEqual([
    { organizationId, period: "week", from: null, to: null, obstacle: "beginning" },
  ]);
  expect((await verify()).stdout).toContain(
    `\nNot compared: weeks: spend before the first limit is still being added (${organizationId})\n`,
  );
});

it("compares the month of users and groups where no limit asks for another window", async () => {
  await opened.client.flushall();
  const key = await addTestKey(opened.store, (await createTestOrganization(opened.store)).id);
  await opened.store.charge(chargeInput(await createIdentity(opened.store, key), 1, COST, { final: FINAL }));
  expect((await verify()).stdout).toContain("\nWindows of limits: 1 of 1 organizations compared");
});

describe("without its Redis", () => {
  it.each(firstOnPush(["verify", "rebuild"]))(
    "usage %s says which one it is and what to do, and shows no stack",
    async (command) => {
      const away = mkdtempSync(join(tmpdir(), "igw-away-"));
      onTestFinished(() => rmSync(away, { recursive: true }));
      const url = `redis://127.0.0.1:${await findFreePort()}`;
      const named = await callCli(["usage", command, "--config", writeUsageConfig(away, url)]);
      expect([named.code, named.stdout]).toEqual([1, ""]);
      expect(named.stderr).toMatch(
        /^Redis at redis:\/\/127\.0\.0\.1:\d+ can't be used: .*ECONNREFUSED.*\n.*`redis` in the configuration\?\n$/u,
      );
      const file = writeUsageConfig(away, url);
      writeFileSync(file, readFileSync(file, "utf8").replace(/^redis:.*\n/u, ""));
      const own = await callCli(["usage", command, "--config", file]);
      expect([own.code, own.stdout]).toEqual([1, ""]);
      expect(own.stderr).toMatch(
        /^Redis at unix:\/\/.*redis\.sock can't be used: .*\n.*`inference-gateway up`.*\n$/u,
      );
    },
  );
});
