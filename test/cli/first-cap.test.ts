import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startDemoUpstream } from "../../src/operation/demo/upstream.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type Stack, START_TIMEOUT_MS, startStack } from "../support/stack.ts";

/** A dozen commands, one after the other, each a program of its own: some seconds each on a machine with more to do. */
const PAGE_TIMEOUT_MS = 300_000;
const run = promisify(execFile);
const PAGE = readFileSync(new URL("../../docs/first-cap.md", import.meta.url), "utf8");
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** As in the built-in configuration that `npm start` runs with. */
async function startBuiltIn(): Promise<{ readonly stack: Stack; stop(): Promise<void> }> {
  const upstream = await startDemoUpstream({ host: "127.0.0.1", port: 0 });
  const prices = { USD: { input: "2.50", cached_input: "0.25", output: "10.00" } };
  try {
    const stack = await startStack({
      upstreams: [{ name: "demo", url: upstream.url, path_prefix: "/v1" }],
      catalog: [
        catalogEntry({ id: "demo/echo", upstream: "demo", prices, capabilities: [], startup_seconds: 5 }),
      ],
    });
    const stop = async (): Promise<void> => {
      await stack.stop();
      await upstream.close();
    };
    return { stack, stop };
  } catch (thrown) {
    await upstream.close();
    throw thrown;
  }
}

interface Step {
  readonly section: string;
  readonly commands: string;
  /** What the page shows of its output, or null. */
  readonly shown: string | null;
}

function readSteps(page: string): Step[] {
  const pattern = /(?:(<!-- not run[^\n]*-->)\n)?```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?/gs;
  return Array.from(page.matchAll(pattern), (match) => ({
    section:
      page
        .slice(0, match.index)
        .match(/^## .*$/gm)
        ?.at(-1)
        ?.slice(3) ?? "",
    commands: match[1] === undefined ? (match[2] ?? "") : "",
    shown: match[3] ?? null,
  })).filter((step) => step.commands !== "");
}

/** Blanks do not count: columns are as wide as what is in them. */
function createPattern(shown: string): RegExp {
  const lines = shown.trim().split("\n");
  const patterns = lines.map((line) =>
    line
      .trim()
      .split(/(…|\s+)/)
      .map((part) =>
        part === "…" ? ".*" : /^\s+$/.test(part) ? "\\s+" : part.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&"),
      )
      .join(""),
  );
  return new RegExp(`^${patterns.join("\\s*\\n")}\\s*$`);
}

/** All steps in one shell, as a reader runs them; what each printed. */
async function runSteps(
  { baseUrl, adminUrl, adminToken, dir }: Stack,
  steps: readonly Step[],
): Promise<string[]> {
  const mark = "--- end of a step ---";
  const script = steps
    .map((step) => `${step.commands}echo '${mark}'\n`)
    .join("")
    .replaceAll("npx inference-gateway", `'${process.execPath}' '${MAIN}'`)
    .replaceAll("http://127.0.0.1:10000", baseUrl);
  const env = { ...process.env, IGW_ADMIN_URL: adminUrl, IGW_ADMIN_TOKEN: adminToken };
  const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], {
    cwd: dir,
    env,
    timeout: PAGE_TIMEOUT_MS,
  });
  return stdout.split(`${mark}\n`).slice(0, steps.length);
}

describe("docs/first-cap.md", () => {
  // A second try begins where a reader begins: on what the first one left, the page's names would stand twice.
  let builtIn: Awaited<ReturnType<typeof startBuiltIn>>;
  beforeEach(async () => {
    builtIn = await startBuiltIn();
  }, START_TIMEOUT_MS);
  afterEach(() => builtIn.stop());

  it(
    "prints what it says, command by command",
    async () => {
      const steps = readSteps(PAGE);
      expect(steps.length).toBeGreaterThanOrEqual(9);
      const printed = await runSteps(builtIn.stack, steps);
      for (const [index, step] of steps.entries()) {
        const pattern = step.shown === null ? /^$/ : createPattern(step.shown);
        expect(printed[index], `${step.section}:\n${step.commands}`).toMatch(pattern);
      }
    },
    PAGE_TIMEOUT_MS,
  );
});

describe("the demo of docs/first-cap.md", () => {
  it("has the addresses and the model of the built-in configuration", () => {
    const builtIn = readFileSync(
      new URL("../../src/operation/launcher/default-gateway.yaml", import.meta.url),
      "utf8",
    );
    expect(builtIn).toContain("listen: { host: 127.0.0.1, port: 10000 }");
    expect(builtIn).toContain("- id: demo/echo");
    expect(builtIn).toContain('USD: { input: "2.50", cached_input: "0.25", output: "10.00" }');
  });
});
