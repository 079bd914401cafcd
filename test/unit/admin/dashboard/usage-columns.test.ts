import { describe, expect, it } from "vitest";
import {
  columnsOf,
  gatherCost,
  gatherBefore,
  gatherTokens,
  groupBy,
} from "../../../../src/management/admin/dashboard/usage-columns.ts";
import { daysIn, rangeBefore } from "../../../../src/shared/time/day-range.ts";
import type { UsageRowView } from "../../../../src/management/admin/dashboard/views.ts";

function row(fields: Partial<UsageRowView>): UsageRowView {
  return {
    requests: 1,
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    input_audio_tokens: 0,
    output_audio_tokens: 0,
    estimated_requests: 0,
    cost_microcents: 0n,
    cost_cents: 0,
    server_tool_microcents: 0n,
    ...fields,
  };
}

const WEEK = { from: "2026-11-01", to: "2026-11-07" };
/** Five months of 153 days: those before begin 154 days earlier, in whole weeks. */
const FIVE_MONTHS = { from: "2026-03-01", to: "2026-07-31" };

describe("columnsOf", () => {
  it("has a column for each day, and for each month where days would be too many", () => {
    expect(columnsOf(WEEK)).toMatchObject({ unit: "day" });
    expect(columnsOf(WEEK).titles[1]).toEqual({ title: "2026-11-02", short: "11-02" });
    expect(columnsOf(FIVE_MONTHS)).toMatchObject({ unit: "month" });
    expect(columnsOf(FIVE_MONTHS).titles.map(({ title }) => title)).toEqual([
      "March 2026",
      "April 2026",
      "May 2026",
      "June 2026",
      "July 2026",
    ]);
  });

  it("puts a row into the column whose name a table would give it", () => {
    const columns = columnsOf(FIVE_MONTHS);
    expect(columns.nameOf(columns.groupOf(row({ day: "2026-04-30" })))).toBe("April 2026");
  });
});

describe("gatherBefore", () => {
  it("has as many values as the range has columns, also if the days before touch another month", () => {
    const columns = columnsOf(FIVE_MONTHS);
    const before = daysIn(rangeBefore(FIVE_MONTHS)).map((day) => row({ day, cost_microcents: 1n }));
    expect(gatherBefore(columns, FIVE_MONTHS, before)).toEqual([31, 30, 31, 30, 31]);
  });

  it("compares each day with the same day of the week, the first with the first", () => {
    for (const [from, to, first] of [
      ["2026-11-01", "2026-11-07", "2026-10-25"],
      ["2026-11-01", "2026-11-29", "2026-09-27"],
      ["2026-11-29", "2026-11-29", "2026-11-22"],
    ] as const) {
      const before = rangeBefore({ from, to });
      expect(before.from).toBe(first);
      expect(daysIn(before)).toHaveLength(daysIn({ from, to }).length);
      expect(new Date(before.from).getUTCDay()).toBe(new Date(from).getUTCDay());
    }
  });

  it("puts the first day of the period before into the column of the first day", () => {
    const before = [
      row({ day: "2026-10-25", cost_microcents: 7n }),
      row({ day: "2026-10-31", cost_microcents: 9n }),
    ];
    expect(gatherBefore(columnsOf(WEEK), WEEK, before)).toEqual([7, 0, 0, 0, 0, 0, 9]);
  });
});

describe("columns of a unit", () => {
  it("are hours, weeks from Monday or months, under the names of the API", () => {
    const hours = columnsOf({ from: "2026-11-02", to: "2026-11-02" }, "hour");
    expect(hours.titles).toHaveLength(24);
    expect(hours.titles[14]).toEqual({ title: "2026-11-02 14:00 UTC", short: "14:00" });
    expect(hours.groupOf(row({ hour: "2026-11-02T14:00Z" }))).toBe("2026-11-02T14:00Z");
    const weeks = columnsOf({ from: "2026-11-01", to: "2026-11-09" }, "week");
    expect(weeks.titles.map(({ title }) => title)).toEqual([
      "week of 2026-10-26",
      "week of 2026-11-02",
      "week of 2026-11-09",
    ]);
    expect(weeks.groupOf(row({ week: "2026-11-02" }))).toBe(weeks.groupOf(row({ day: "2026-11-08" })));
  });
});

describe("a ranking", () => {
  it("has the largest first and all others last, by the figure that is asked for", () => {
    const rows = [
      row({ day: "2026-11-01", user_id: "user_1", user_name: "Ann", cost_microcents: 5n, requests: 1 }),
      row({ day: "2026-11-01", user_id: "user_2", user_name: "Bob", cost_microcents: 7n, requests: 1 }),
      row({ day: "2026-11-01", user_id: null, cost_microcents: 6n, requests: 9 }),
      row({ day: "2026-11-01", user_id: null, others: 48, cost_microcents: 90n, requests: 90 }),
    ];
    const names = (valueOf?: Parameters<typeof gatherCost>[3]) =>
      gatherCost(columnsOf(WEEK), rows, groupBy(rows, "user"), valueOf).map(({ name }) => name);
    expect(names()).toEqual(["Bob", "no user", "Ann", "48 others"]);
    expect(names((own) => own[0]?.requests ?? 0)).toEqual(["no user", "Ann", "Bob", "48 others"]);
  });
});

describe("gatherCost", () => {
  it("keeps two keys of one name apart, and tells them apart by the end of the id", () => {
    const rows = [
      row({ day: "2026-11-01", key_id: "key_old1", key_name: "ci", cost_microcents: 5n }),
      row({ day: "2026-11-01", key_id: "key_new2", key_name: "ci", cost_microcents: 3n }),
      row({ day: "2026-11-02", key_id: "key_x", key_name: "laptop", cost_microcents: 4n }),
    ];
    const series = gatherCost(columnsOf(WEEK), rows, groupBy(rows, "key"));
    expect(series.map(({ name }) => name)).toEqual(["ci (…old1)", "laptop", "ci (…new2)"]);
    expect(series[0]?.values).toEqual([5, 0, 0, 0, 0, 0, 0]);
  });

  it("names what is of no key, of no model, and without the tag", () => {
    const rows = [
      row({ day: "2026-11-01", key_id: null, model: null, tags: { team: null }, cost_microcents: -2n }),
    ];
    const nameOf = (grouping: Parameters<typeof gatherCost>[2]) =>
      gatherCost(columnsOf(WEEK), rows, grouping).map(({ name, values }) => [name, values[0]]);
    expect(nameOf(groupBy(rows, "key"))).toEqual([["spend corrections", -2]]);
    expect(nameOf(groupBy(rows, "model"))).toEqual([["spend corrections", -2]]);
    expect(nameOf(groupBy(rows, "tag:team"))).toEqual([["without team", -2]]);
  });
});

describe("gatherTokens", () => {
  it("splits them into input, cached input and output", () => {
    const rows = [row({ day: "2026-11-03", input_tokens: 1, cached_input_tokens: 2, output_tokens: 3 })];
    const series = gatherTokens(columnsOf(WEEK), rows);
    expect(series.map(({ name, values }) => [name, values[2]])).toEqual([
      ["input", 1],
      ["cached input", 2],
      ["output", 3],
    ]);
  });
});
