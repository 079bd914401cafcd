/** What the CLI shows and exports of usage by tags. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { chargeInput, createIdentity, FINAL, MODEL } from "../store/fixture.ts";
import { findFocusBreaches } from "../support/focus-checker.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { uniqueName, withManagement } from "./with-management.ts";

const management = withManagement();
const { igw, ok } = management;

describe("usage by tags and as a file", () => {
  it("shows usage by a tag, of one key, and exports the same sum in each format, to stdout and to a file", async () => {
    const org = uniqueName();
    const organizationId = (await ok("org create --name", org, "--currency USD --quiet")).stdout.trim();
    const keyId = String((await ok("key create --org", org, "--name ci --json")).json()["id"]);
    const today = new Date(await management.admin.store.timeMs()).toISOString().slice(0, 10);
    for (const [tags, cost] of [
      ["team=search", 5_000_000n],
      ["team=ads", 7_000_001n],
      ["", 1n],
    ] as const) {
      const key = { organizationId, keyId, hash: "" };
      const identity = { ...(await createIdentity(management.admin.store, key)), tags };
      await management.admin.store.charge(chargeInput(identity, 1, cost, { final: FINAL }));
    }
    const shown = (await ok("usage show --org", org, "--group-by tag:team --key ci")).stdout;
    expect(shown).toMatch(/TEAM +REQUESTS/);
    expect(shown).toMatch(/ads +1 .*0\.07000001 USD/);
    expect(shown).toMatch(/- +1 .*0\.00000001 USD/);
    const one = await ok("usage show --org", org, "--tag team=search --json");
    expect(one.json()).toMatchObject({ data: [{ cost_microcents: 5_000_000 }] });
    const countOf = async (filter: string) => {
      const { data } = (await ok("requests list --org", org, "--json", filter)).json();
      return (data as unknown[]).length;
    };
    expect(await countOf("--tag team=search")).toBe(1);
    expect([await countOf(`--model ${MODEL}`), await countOf("--model acme/echo-large")]).toEqual([3, 0]);
    expect([await countOf("--from 2h"), await countOf("--from 2100-01-01")]).toEqual([3, 0]);

    const csv = parseCsv((await ok("usage export --org", org)).stdout).rows;
    expect(csv.map((row) => [row["day"], row["key_name"], row["tags"], row["cost"]])).toEqual([
      [today, "ci", "", "0.00000001"],
      [today, "ci", "team=ads", "0.07000001"],
      [today, "ci", "team=search", "0.05000000"],
    ]);
    const lines = (await ok("usage export --org", org, "--format jsonl")).stdout.trimEnd().split("\n");
    const costs = lines.map((line) => (JSON.parse(line) as { cost_microcents: number }).cost_microcents);
    expect(costs.reduce((sum, cost) => sum + cost)).toBe(12_000_002);
    expect((await ok("usage export --org", org, "--json")).stdout.trimEnd().split("\n")).toEqual(lines);
    const contradiction = await igw("usage export --org", org, "--json --format csv");
    expect([contradiction.code, contradiction.stderr]).toEqual([
      1,
      expect.stringContaining("--format jsonl"),
    ]);
    const dir = mkdtempSync(join(tmpdir(), "igw-export-"));
    try {
      const file = join(dir, "usage.focus.csv.gz");
      await ok("usage export --org", org, "--format focus --gzip --output", file);
      const { columns, rows } = parseCsv(gunzipSync(readFileSync(file)).toString("utf8"));
      expect(findFocusBreaches(columns, rows)).toEqual([]);
      expect(rows.map((row) => row["BilledCost"])).toEqual(csv.map((row) => row["cost"]));
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
