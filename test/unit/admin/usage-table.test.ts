import { describe, expect, it } from "vitest";
import {
  formatRowId,
  formatUsageTable,
  type UsageTableRow,
} from "../../../src/management/admin/usage-export/usage-table.ts";
import { formatOwnerIds } from "../../../src/shared/stored/owner-ids.ts";
import { NO_USAGE } from "../../../src/shared/usage/usage-figures.ts";

type Row = Omit<UsageTableRow, "id" | "organization">;

const ROW: Row = {
  ...NO_USAGE,
  day: "2026-11-21",
  keyId: "key_1",
  owners: "",
  model: "acme/coder",
  tags: "team=search",
  keyName: "ci",
  userName: null,
  groupName: null,
  requests: 2,
  inputTokens: 10,
  cachedInputTokens: 4,
  outputTokens: 6,
  cacheWriteTokens: 1,
  cacheWrite1hTokens: 2,
  inputAudioTokens: 3,
  outputAudioTokens: 5,
  costMicrocents: 123_456n,
  toolMicrocents: 7n,
};
const ACME = { id: "org_1", name: "Acme", currency: "USD" };
const format = (row: Row): readonly string[] =>
  formatUsageTable([{ ...row, id: formatRowId(row), organization: ACME }]).split("\r\n");

describe("formatUsageTable", () => {
  it("has the columns of the export, with the key's name beside its id and the cost to the microcent", () => {
    expect(format(ROW)).toEqual([
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
      owners: formatOwnerIds({ userId: "user_1", groupId: "group_2" }),
      userName: "Ann",
      groupName: "Search, and more",
    };
    const line = format(owned)[1];
    expect(line).toMatch(
      /^2026-11-21 key_1\.user_1\.group_2 acme\/coder team=search,.*,user_1,Ann,group_2,"Search, and more",0\.00123456,USD,/,
    );
  });

  it("leaves empty what there is none of: the key and model of a correction, a tag that a request has not", () => {
    const correction = {
      ...ROW,
      keyId: null,
      keyName: null,
      model: null,
      tags: "",
      costMicrocents: -5n,
    };
    const line = format(correction)[1];
    expect(line).toMatch(/^2026-11-21 - - -,2026-11-21,org_1,Acme,,,,,,,,,-0\.00000005,USD,2,.*,-5,.*,7,$/);
  });
});
