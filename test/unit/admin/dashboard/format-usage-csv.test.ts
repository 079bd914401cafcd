import { describe, expect, it } from "vitest";
import { formatUsageCsv } from "../../../../src/management/admin/dashboard/format-usage-csv.ts";
import type { UsageRowView } from "../../../../src/management/admin/dashboard/views.ts";

const ROW: UsageRowView = {
  day: "2026-11-21",
  key_id: "key_1",
  key_name: "ci",
  model: "acme/coder",
  tags: { team: "search" },
  requests: 2,
  input_tokens: 10,
  cached_input_tokens: 4,
  output_tokens: 6,
  reasoning_tokens: 0,
  cache_write_tokens: 1,
  cache_write_1h_tokens: 2,
  input_audio_tokens: 3,
  output_audio_tokens: 5,
  estimated_requests: 0,
  cost_microcents: 123_456n,
  cost_cents: 0,
  server_tool_microcents: 7n,
};
const ACME = { id: "org_1", name: "Acme", currency: "USD" };

describe("formatUsageCsv", () => {
  it("has the columns of the export, with the key's name beside its id and the cost to the microcent", () => {
    expect(formatUsageCsv([ROW], ACME).split("\r\n")).toEqual([
      "row_id,day,organization_id,organization_name,key_id,key_name,model,tags,user_id,user_name,group_id,group_name," +
        "cost,currency,requests,input_tokens,cached_input_tokens,output_tokens,reasoning_tokens,estimated_requests," +
        "cost_microcents,cache_write_tokens,cache_write_1h_tokens,input_audio_tokens,output_audio_tokens," +
        "server_tool_microcents,session_id",
      "2026-11-21 key_1 acme/coder team=search,2026-11-21,org_1,Acme,key_1,ci,acme/coder,team=search,,,,," +
        "0.00123456,USD,2,10,4,6,0,0,123456,1,2,3,5,7,",
      "",
    ]);
  });

  it("has whose the requests were, in the row's id too", () => {
    const owned = {
      ...ROW,
      user_id: "user_1",
      user_name: "Ann",
      group_id: "group_2",
      group_name: "Search, and more",
    };
    const line = formatUsageCsv([owned], ACME).split("\r\n")[1];
    expect(line).toMatch(
      /^2026-11-21 key_1\.user_1\.group_2 acme\/coder team=search,.*,user_1,Ann,group_2,"Search, and more",0\.00123456,USD,/,
    );
  });

  it("leaves empty what there is none of: the key and model of a correction, a tag that a request has not", () => {
    const correction = {
      ...ROW,
      key_id: null,
      key_name: null,
      model: null,
      tags: { team: null },
      cost_microcents: -5n,
    };
    const line = formatUsageCsv([correction], ACME).split("\r\n")[1];
    expect(line).toMatch(/^2026-11-21 - - -,2026-11-21,org_1,Acme,,,,,,,,,-0\.00000005,USD,2,.*,-5,.*,7,$/);
  });
});
