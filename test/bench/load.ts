/** Load on one URL: by wrk where it is installed, else by `load-generator.ts`, in a process of its own either way. */
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface LoadOptions {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly expectedStatus: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Connections that failed, and answers with another status than expected. */
  readonly failures: number;
}

/** What both generators print. */
export interface RawLoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers with a status from 400 on. */
  readonly statusErrors: number;
  readonly socketErrors: number;
}

export interface LoadGenerator {
  readonly name: "wrk" | "node";
  run(options: LoadOptions): Promise<LoadResult>;
  close(): void;
}

/** The better generator that there is. */
export function createLoadGenerator(): LoadGenerator {
  const dir = mkdtempSync(join(tmpdir(), "igw-load-"));
  const name = hasWrk() ? "wrk" : "node";
  return {
    name,
    run: async (options) => {
      const raw = await (name === "wrk" ? runWrk(options, dir) : runNode(options, dir));
      const isRefusal = options.expectedStatus >= 400;
      const wrongStatus = isRefusal ? raw.requests - raw.statusErrors : raw.statusErrors;
      return {
        requests: raw.requests,
        requestsPerSecond: raw.requests / raw.seconds,
        p50Ms: raw.p50Ms,
        p99Ms: raw.p99Ms,
        failures: raw.socketErrors + wrongStatus,
      };
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function hasWrk(): boolean {
  try {
    execFileSync("which", ["wrk"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function runWrk(options: LoadOptions, dir: string): Promise<RawLoadResult> {
  const bodyFile = join(dir, "body");
  const script = join(dir, "load.lua");
  writeFileSync(bodyFile, options.body);
  writeFileSync(script, formatLua(options.headers, bodyFile));
  const amount = ["-t", "1", "-c", String(options.connections), "-d", `${options.seconds}s`];
  const args = [...amount, "--timeout", "20s", "--latency", "-s", script, options.url];
  const { stdout } = await run("wrk", args, { timeout: (options.seconds + 60) * 1000 });
  return parseLastLine(stdout);
}

function formatLua(headers: Readonly<Record<string, string>>, bodyFile: string): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  return `wrk.method = "POST"
local file = io.open(${JSON.stringify(bodyFile)}, "rb")
wrk.body = file:read("*a")
file:close()
${lines.join("\n")}
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('\\n{"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"statusErrors":%d,"socketErrors":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    e.status, e.connect + e.read + e.write + e.timeout))
end
`;
}

async function runNode(options: LoadOptions, dir: string): Promise<RawLoadResult> {
  const optionsFile = join(dir, "options.json");
  writeFileSync(optionsFile, JSON.stringify(options));
  const program = fileURLToPath(new URL("load-generator.ts", import.meta.url));
  const { stdout } = await run(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), program, optionsFile],
    { timeout: (options.seconds + 60) * 1000 },
  );
  return parseLastLine(stdout);
}

function parseLastLine(stdout: string): RawLoadResult {
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as RawLoadResult;
}
