/** `usage rebuild` of a Redis that was restored from an older snapshot, as an operator runs it: what limits count comes back. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { LIMIT_PERIODS } from "../../src/shared/settings/limits.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { ChargeInput } from "../../src/shared/stored/settlement.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  chargeInput,
  connectStore,
  createIdentity,
  createTestOrganization,
  FINAL,
} from "../store/fixture.ts";
import { formatLog } from "../store/log-fixture.ts";
import { startRedis } from "../support/redis.ts";
import { callCli } from "./call-cli.ts";
import { writeUsageConfig } from "./usage-config.ts";

it("brings the counters of a restored snapshot to the log: verify finds what is missing, and then nothing", async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const dir = mkdtempSync(join(tmpdir(), "igw-rebuild-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const config = writeUsageConfig(dir, redis.url);
  const before = await connectStore({ url: redis.url });
  const charges = await createCharges(before.store);
  const [{ month, day }] = charges as [ChargeInput];
  for (const charge of charges.slice(0, 2)) await before.store.charge(charge);
  await before.client.save();
  for (const charge of charges.slice(2)) await before.store.charge(charge);
  const requests = join(dir, "requests");
  mkdirSync(requests);
  writeFileSync(join(requests, `${day}.worker-0.0.jsonl`), formatLog(charges, await before.store.timeMs()));
  const run = (command: string, ...more: string[]) =>
    callCli(["usage", command, "--config", config, "--month", month, "--requests", requests, ...more]);
  expect(await run("verify")).toMatchObject({ code: 0 });
  await before.stop();
  // It begins with what was saved.
  redis.kill();
  await redis.restart();

  const missing = (await run("verify", "--json")).json()["differences"] as { readonly kind: string }[];
  // Rows and counters were lost together, so that only the log tells.
  expect(new Set(missing.map(({ kind }) => kind))).toEqual(new Set(["missing_in_redis"]));
  expect((await run("rebuild")).stdout).toContain("raised 1 usage rows, added 700 microcents");
  expect(await run("verify")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /\nWindows of limits: [1-9]\d* of 1 organizations .*\nNo difference\.\n$/su,
    ),
  });
  expect((await run("rebuild")).stdout).toContain("raised 0 usage rows, added 0 microcents");
  const after = await connectStore({ url: redis.url });
  onTestFinished(() => after.stop());
  const [{ organizationId, keyId, owners = "" }] = charges as [ChargeInput];
  const { windows } = await after.store.listWindows(organizationId, month);
  const current = windows.filter(({ days, months }) => days.includes(day) || months.includes(month));
  expect(new Set(current.map(({ period }) => period))).toEqual(new Set(LIMIT_PERIODS));
  for (const window of current) {
    const read = await after.store.readWindow(organizationId, window);
    const ids = [null, keyId, ...owners.split(".")];
    expect(new Set(read.map(({ id, microcents }) => `${id} ${microcents}`))).toEqual(
      new Set(ids.map((id) => `${id} 1000`)),
    );
  }
});

/** Four of a user of a group, 1,000 microcents together. */
async function createCharges(
  store: Awaited<ReturnType<typeof connectStore>>["store"],
): Promise<ChargeInput[]> {
  const { id } = await createTestOrganization(store);
  const limits = LIMIT_PERIODS.map((period) => ({ period, kind: "cap" as const, cents: 100_000 }));
  const groupId = await addTestGroup(store, id, { limits });
  const userId = await addTestUser(store, id, { groupId, limits });
  const key = await addTestKey(store, id, { userId });
  const identity = { ...(await createIdentity(store, key)), owners: formatOwnerIds({ userId, groupId }) };
  const charges: ChargeInput[] = [];
  for (const cost of [100n, 200n, 300n, 400n]) {
    const { requestId } = await createIdentity(store, key);
    charges.push(chargeInput({ ...identity, requestId }, 1, cost, { final: FINAL }));
  }
  return charges;
}
