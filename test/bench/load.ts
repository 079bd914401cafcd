/** Load on one URL: by load-generator.c where there is a compiler, else by load-generator.ts; a process of its own either way. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createKey } from "../../src/data-path/auth/key-format.ts";
import { compileProgram } from "./compiled.ts";

const run = promisify(execFile);

export interface LoadOptions {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly expectedStatus: number;
  /** Ends the run after so many, if it comes before the end of the time. */
  readonly requests?: number;
  /** Time from one request of a connection to its next one; by default a request follows its answer. */
  readonly pauseMs?: number;
  /** API keys that take turns, all of one length, in the place of `KEY_MARK` in a header. */
  readonly keys?: readonly string[];
}

/** As long as a key. */
export const KEY_MARK = "{key".padEnd(createKey().length, "}");

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
  readonly name: "compiled" | "node";
  run(options: LoadOptions): Promise<LoadResult>;
  close(): void;
}

/** `name`: the one that is wanted; the better one that there is when left out. */
export function createLoadGenerator(name?: LoadGenerator["name"]): LoadGenerator {
  const dir = mkdtempSync(join(tmpdir(), "igw-load-"));
  const program = name === "node" ? null : compileProgram("load-generator");
  if (program === null && name === "compiled") throw new Error("there is no C compiler: name one in CC");
  return {
    name: program === null ? "node" : "compiled",
    run: async (options) => {
      const own = mkdtempSync(join(dir, "run-"));
      const raw = await (program === null ? runNode(options, own) : runCompiled(program.path, options, own));
      const isRefusal = options.expectedStatus >= 400;
      const passed = raw.requests - raw.statusErrors;
      const wrongStatus = isRefusal
        ? Math.max(0, passed - grantedRefills(options.seconds))
        : raw.statusErrors;
      return {
        requests: raw.requests,
        requestsPerSecond: raw.requests / raw.seconds,
        p50Ms: raw.p50Ms,
        p99Ms: raw.p99Ms,
        failures: raw.socketErrors + wrongStatus,
      };
    },
    close: () => {
      rmSync(dir, { recursive: true, force: true });
      program?.remove();
    },
  };
}

/** An empty bucket of one request a minute fills meanwhile: what it grants is no failure. */
function grantedRefills(seconds: number): number {
  return Math.ceil(seconds / 60);
}

async function runCompiled(program: string, options: LoadOptions, dir: string): Promise<RawLoadResult> {
  const { url, connections, seconds, requests = 0, pauseMs = 0, keys } = options;
  const requestFile = join(dir, "request");
  writeFileSync(requestFile, formatRequest(options));
  const args = [new URL(url).port, connections, seconds, requests, pauseMs, requestFile].map(String);
  if (keys !== undefined) args.push(writeKeys(keys, dir));
  const { stdout } = await run(program, args, { timeout: (seconds + 60) * 1000 });
  return parseLastLine(stdout);
}

function writeKeys(keys: readonly string[], dir: string): string {
  const file = join(dir, "keys");
  writeFileSync(file, `${keys.join("\n")}\n`);
  return file;
}

async function runNode(options: LoadOptions, dir: string): Promise<RawLoadResult> {
  const optionsFile = join(dir, "options.json");
  const keysFile = options.keys === undefined ? null : writeKeys(options.keys, dir);
  const request = formatRequest(options);
  writeFileSync(optionsFile, JSON.stringify({ ...options, request, keysFile, keys: [] }));
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

function formatRequest({ url, headers, body }: LoadOptions): string {
  const { host, pathname } = new URL(url);
  const lines = Object.entries({ host, ...headers, "content-length": Buffer.byteLength(body) });
  return `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}
