import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { configCheck } from "../../../src/operation/cli/config-check.ts";

/** Not in the repository's own folder, whose path may be too long for Unix sockets. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "config-"));
  cpSync(fileURLToPath(new URL("../../fixtures/config", import.meta.url)), folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

async function check(file: string, json: boolean, env: Record<string, string> = {}) {
  const written = { stdout: "", stderr: "" };
  const code = await configCheck({
    file: `${folder}/${file}`,
    json,
    env,
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  });
  return { code, ...written };
}

describe("configCheck", () => {
  it("says ok and what the file has, with exit code 0", async () => {
    expect(await check("good.yaml", false)).toEqual({
      code: 0,
      stdout: `ok: ${folder}/good.yaml\n  models: acme/echo-small\n  upstreams: local\n  currencies: USD\n`,
      stderr: "",
    });
  });

  it("prints the problems on stderr with line and path, with exit code 1", async () => {
    expect(await check("bad-unknown-field.yaml", false)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        `${folder}/bad-unknown-field.yaml: 1 problem\n` +
        "  line 7: catalog[0].upstrem_model: unknown field `upstrem_model`; did you mean `upstream_model`?\n",
    });
  });

  it("has the colours of the other commands, and none of them with NO_COLOR", async () => {
    const coloured = { FORCE_COLOR: "1" };
    const paint = (code: number, text: string) => `\u001b[${code}m${text}\u001b[0m`;
    const [fine, wrong] = [
      await check("good.yaml", false, coloured),
      await check("bad-retention.yaml", false, coloured),
    ];
    expect(fine.stdout).toContain(`${paint(32, "ok")}: ${folder}/good.yaml\n`);
    expect(wrong.stderr).toContain(`${paint(31, `${folder}/bad-retention.yaml: 1 problem`)}\n`);
    expect((await check("good.yaml", true, coloured)).stdout).toMatch(/^\{/);
    expect((await check("good.yaml", false, { ...coloured, NO_COLOR: "1" })).stdout).toMatch(/^ok: /);
  });

  it("prints one JSON object for programs", async () => {
    const [fine, wrong] = [await check("good.yaml", true), await check("bad-retention.yaml", true)];
    expect(JSON.parse(fine.stdout)).toEqual({
      ok: true,
      file: `${folder}/good.yaml`,
      models: ["acme/echo-small"],
      upstreams: ["local"],
      currencies: { USD: 1 },
    });
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      ok: false,
      problems: [{ path: "retention.usage_months", line: 12 }],
    });
    expect([fine.code, wrong.code, wrong.stderr]).toEqual([0, 1, ""]);
  });

  it("tells a file that does not exist", async () => {
    expect(await check("none.yaml", false)).toMatchObject({
      code: 1,
      stderr: `${folder}/none.yaml: 1 problem\n  the file does not exist\n`,
    });
  });
});
