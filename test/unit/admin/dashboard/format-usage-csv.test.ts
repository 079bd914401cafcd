import { describe, expect, it } from "vitest";
import { formatUsageCsv } from "../../../../src/admin/dashboard/format-usage-csv.ts";
import type { UsageRowView } from "../../../../src/admin/dashboard/views.ts";

const ROW: UsageRowView = {
  day: "2026-11-21",
  key_id: "key_1",
  model: "acme/coder",
  tags: { team: "search" },
  requests: 2,
  input_tokens: 10,
  cached_input_tokens: 4,
  output_tokens: 6,
  reasoning_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  input_audio_tokens: 0,
  output_audio_tokens: 0,
  estimated_requests: 0,
  cost_microcents: 123_456,
  cost_cents: 0,
  server_tool_microcents: 0,
};
const NAMES = new Map([["key_1", "ci"]]);

describe("formatUsageCsv", () => {
  it("has the key's name beside its id, and the cost to the microcent", () => {
    expect(formatUsageCsv([ROW], NAMES, { currency: "USD", byTag: "" })).toBe(
      [
        "day,key_id,key_name,model,requests,input_tokens,cached_input_tokens,output_tokens,reasoning_tokens,estimated_requests,cost,currency",
        "2026-11-21,key_1,ci,acme/coder,2,10,4,6,0,0,0.00123456,USD",
        "",
      ].join("\r\n"),
    );
  });

  it("has a column of the tag that the rows are apart by", () => {
    const rows = [ROW, { ...ROW, tags: { team: null } }];
    const [header, first, second] = formatUsageCsv(rows, NAMES, { currency: "USD", byTag: "team" }).split(
      "\r\n",
    );
    expect(header).toContain(",model,tag:team,requests,");
    expect(first).toContain(",acme/coder,search,2,");
    expect(second).toContain(",acme/coder,,2,");
  });
});
