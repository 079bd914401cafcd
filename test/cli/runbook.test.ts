/** The runbook names commands, log lines, metrics and checks: each is one that there is. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { METRICS } from "../../src/shared/telemetry/metric-definitions.ts";
import { callCli } from "./call-cli.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = ["runbook", "operate"]
  .map((name) => readFileSync(join(root, `docs/${name}.md`), "utf8"))
  .join("\n");
const spans = Array.from(page.matchAll(/`([^`\n]+)`/g), ([, text = ""]) => text);
const GROUPS = "config|envoy|requests|usage|key|alerts|org|token";
const COMMAND = new RegExp(`^(?:inference-gateway )?((?:${GROUPS}) [a-z-]+|doctor|explain|audit)(?: |$)`);
const commands = [...new Set(spans.flatMap((text) => COMMAND.exec(text)?.[1] ?? []))];

const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(join(root, "src", name), "utf8"))
  .join("\n");

describe("docs/runbook.md and docs/operate.md", () => {
  it.each(commands)("names a command that there is: %s", async (command) => {
    const { code, stdout } = await callCli([...command.split(" "), "--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: inference-gateway ${command}\\b`));
  });

  it("names log lines and metrics that there are", () => {
    expect(commands.length).toBeGreaterThan(5);
    const lines = ["worker exited unexpectedly", "upstream failed"];
    expect(lines.filter((line) => !page.includes(`\`${line}\``) || !source.includes(line))).toEqual([]);
    const names = new Set<string>(Object.values(METRICS).map(({ name }) => name));
    const named = spans.flatMap((text) => /^inference_gateway_\w+/.exec(text)?.[0] ?? []);
    expect(named.filter((name) => !names.has(name))).toEqual([]);
  });
});
