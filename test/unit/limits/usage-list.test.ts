import { describe, expect, it } from "vitest";
import { UsageLists } from "../../../src/data-path/limits/reports/usage-list.ts";
import type { UsageRow } from "../../../src/shared/stored/reporting.ts";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { NO_USAGE } from "../../../src/shared/usage/usage-figures.ts";
import { ADMISSION } from "../exchange/admission-fixture.ts";
import { changeAdmission } from "../settlement/settlement-fixture.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
const admission = { ...ADMISSION, rate: { ...ADMISSION.rate, timeMs: NOW_MS } };

function row(day: string, model: string, requests: number): UsageRow {
  const ids = { keyId: admission.caller.keyId, owners: "", tags: "" };
  return { day, model, ...ids, ...NO_USAGE, requests, costMicrocents: BigInt(requests) * 1_500_000n };
}

/** Reading a day takes this long. */
function open(dayMs = 0, rowsOf: (day: string) => readonly UsageRow[] = () => []) {
  const read: string[] = [];
  const clock = { ms: 0 };
  const readUsageOfDay = (_: string, day: string, of: object = {}) => {
    read.push(day);
    expect(of).toEqual({ keyId: admission.caller.keyId });
    clock.ms += dayMs;
    return Promise.resolve(rowsOf(day));
  };
  const lists = new UsageLists({ readUsageOfDay }, () => clock.ms);
  const list = (query = "", of = admission) => lists.read(of, new URLSearchParams(query));
  return { list, read, clock };
}

async function codeOf(answer: Promise<unknown>) {
  const thrown: unknown = await answer.catch((error: unknown) => error);
  return thrown instanceof GatewayError ? [thrown.code, thrown.param ?? thrown.retryAfterSeconds] : thrown;
}

describe("the usage of a key", () => {
  it("is this month's until today by day and model, newest day first, whatever the query names", async () => {
    const { list, read } = open(0, (day) =>
      day === "2026-11-20" ? [row(day, "a", 1), row(day, "b", 2), row(day, "a", 3)] : [],
    );
    expect(await list("key_id=key_other")).toEqual({
      object: "list",
      currency: admission.caller.currency,
      from: "2026-11-01",
      to: "2026-11-21",
      data: [
        expect.objectContaining({ day: "2026-11-20", model: "a", requests: 4, cost_microcents: 6_000_000 }),
        expect.objectContaining({ day: "2026-11-20", model: "b", requests: 2, cost_cents: 3 }),
      ],
      has_more: false,
      next: null,
    });
    expect([read.length, read[0], read.at(-1)]).toEqual([21, "2026-11-21", "2026-11-01"]);
  });

  it("comes in pages if reading takes long, and the next page begins with the next day", async () => {
    const { list, read, clock } = open(300);
    expect(await list("from=2026-11-18")).toMatchObject({ has_more: true, next: "2026-11-19" });
    clock.ms += 9 * 600;
    expect(await list("from=2026-11-18&to=2026-11-19")).toMatchObject({ has_more: false, next: null });
    expect(read).toEqual(["2026-11-21", "2026-11-20", "2026-11-19", "2026-11-18"]);
  });

  it("is read for at most a tenth of the time for each organization, one report after another", async () => {
    const { list, clock } = open(300);
    const first = list();
    expect(await codeOf(list())).toEqual(["rate_limit_exceeded", 1]);
    await first;
    expect(await codeOf(list())).toEqual(["rate_limit_exceeded", 6]);
    const other = changeAdmission(admission, { caller: { organizationId: "org_2" } });
    expect(await list("", other)).toMatchObject({ object: "list" });
    clock.ms += 9 * 600;
    expect(await list()).toMatchObject({ object: "list" });
  });

  it.each([
    ["from=2026-11-22", "from"],
    ["from=yesterday", "from"],
    ["to=2026-11-31", "to"],
    ["from=2024-11-01", "from"],
  ])("is no answer to %s", async (query, param) => {
    expect(await codeOf(open().list(query))).toEqual(["invalid_parameter", param]);
  });
});
