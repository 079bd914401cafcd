/** Whether what stands in Redis is what a model says. Each throws an AssertionError where it is not. */
import { strict as assert } from "node:assert";
import { alertListKey, spendKey } from "../../src/data-path/store/redis/keys.ts";
import { windowName } from "../../src/data-path/store/usage/windows.ts";
import type { OpenedStore } from "./fixture.ts";
import { showLimit, sortRows } from "./windows-commands.ts";
import { formatWindow, PERIODS, windowOf } from "./windows-calendar.ts";
import type { WindowsModel } from "./windows-model.ts";
import type { OwnersUnderTest } from "./windows-owners.ts";

/** Every counter that is whole: to the microcent what its owner has spent in its window, and what is held there. */
export async function checkCounters(
  { client }: OpenedStore,
  owners: OwnersUnderTest,
  model: WindowsModel,
): Promise<void> {
  const times = [...model.requests.map(({ admittedMs }) => admittedMs), model.nowMs];
  for (const period of PERIODS) {
    for (const startMs of new Set(times.map((timeMs) => windowOf(period, timeMs).startMs))) {
      // That of all time has no first day.
      const timeMs = Math.max(startMs, 0);
      const window = windowName(period, new Date(timeMs).toISOString().slice(0, 10));
      const stored = await client.hgetall(spendKey(owners.organizationId, window));
      for (const subject of model.owners.keys()) {
        if (!model.isWhole(period, startMs)) continue;
        const field = owners.fieldOf(subject);
        const actual = [stored[field], stored[`held:${field}`]].map((text) => BigInt(text ?? "0"));
        const expected = [model.spentIn(subject, period, timeMs), model.heldIn(subject, period, timeMs)];
        assert.deepEqual(actual, expected, `spent and held of ${subject}, ${formatWindow(period, startMs)}`);
      }
    }
  }
}

/** What is held in Redis for whomever in whatever window, also in those that are not whole: names of its fields. */
export async function listHeld(
  { client }: OpenedStore,
  { organizationId }: OwnersUnderTest,
): Promise<string[]> {
  const windows = await client.keys(spendKey(organizationId, "*"));
  const stored = await Promise.all(windows.map((window) => client.hgetall(window)));
  return stored
    .flatMap((fields) => Object.entries(fields))
    .filter(([name, value]) => name.startsWith("held:") && value !== "0")
    .map(([name]) => name);
}

/** Of each key the limits that it meets, with what is spent of them. */
export async function checkLimits(
  { store }: OpenedStore,
  owners: OwnersUnderTest,
  model: WindowsModel,
): Promise<void> {
  for (const [key, { keyId }] of owners.keys.entries()) {
    const of = model.ownersOf(key);
    const asked = { keyId, owners: owners.format(of) };
    const { limits } = await store.readLimits(owners.organizationId, asked);
    const expected = model.limitsOf(model.subjectsOf({ key, ...of })).map((limit) => {
      return showLimit(model.spentIn(limit.subject, limit.period, model.nowMs), limit);
    });
    const actual = limits.map((limit) => showLimit(limit.spentMicrocents, limit));
    assert.deepEqual(sortRows(actual), sortRows(expected));
  }
}

/** Each has fired once, and none is missing. */
export async function checkAlerts(
  { store, client }: OpenedStore,
  owners: OwnersUnderTest,
  model: WindowsModel,
): Promise<void> {
  const { organizationId } = owners;
  const { items } = await store.listAlerts(organizationId, { limit: 1_000, after: null });
  assert.equal(items.length, await client.xlen(alertListKey(organizationId)));
  const actual = items.flatMap(({ period, windowStart, firedAtMs, keyId, ownerId, ...alert }) => {
    const startMs = windowStart === null ? Number.NEGATIVE_INFINITY : Date.parse(windowStart);
    const subject = owners.subjectOf(keyId ?? ownerId);
    if (!model.isWhole(period, startMs, firedAtMs)) return [];
    const kind = alert.kind === "budget" ? "budget" : "cap";
    const of = `${kind} of ${subject}, ${formatWindow(period, startMs)}`;
    return [`${alert.thresholdPercent} % of ${alert.amountCents}, ${of}`];
  });
  const required = [...model.fired].filter(([, isCertain]) => isCertain).map(([alert]) => alert);
  assert.deepEqual(
    {
      twice: actual.filter((alert, place) => actual.indexOf(alert) !== place),
      missing: required.filter((alert) => !actual.includes(alert)),
      additional: actual.filter((alert) => !model.fired.has(alert)),
    },
    { twice: [], missing: [], additional: [] },
  );
}
