/**
 * RFC 9113 and 7541 as h2spec tests them, on the transport `wire`. The tool is found by `H2SPEC_BIN` or on the PATH, or
 * made by `go install` (a minute, once); where there is neither, the test says so and is skipped.
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { findFreePort } from "../../support/free-port.ts";
import { startWireServer, type WireServer } from "./wire-server.ts";

const PACKAGE = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible";
const TOOLS = resolve(import.meta.dirname, "../../../.tools/h2spec");
const run = promisify(execFile);

/**
 * What h2spec gets wrong about a server that has no table: it keeps one of 4,096 bytes whatever the server announces, so
 * it sends sizes and indexes that RFC 7541 (4.2, 6.3) makes an error.
 */
const NEEDS_A_TABLE = ["generic/5/14", "generic/5/15", "http2/6.10/1"];
/** Takes 16,384 for the largest frame, whatever is announced; asked once more with headers that are really too large. */
const NEEDS_LARGE_HEADERS = "http2/4.2/3";

async function findTool(): Promise<string | null> {
  const folders = [TOOLS, ...(process.env["PATH"] ?? "").split(delimiter)];
  const places = [process.env["H2SPEC_BIN"] ?? "", ...folders.map((folder) => join(folder, "h2spec"))];
  for (const place of places.filter((path) => path !== "")) {
    if (await answers(place)) return place;
  }
  mkdirSync(TOOLS, { recursive: true });
  const env = { ...process.env, GOBIN: TOOLS, GOFLAGS: "-mod=mod" };
  try {
    await run("go", ["install", PACKAGE], { env, cwd: TOOLS, timeout: 120_000 });
  } catch {
    return null;
  }
  return join(TOOLS, "h2spec");
}

async function answers(place: string): Promise<boolean> {
  return await run(place, ["--version"], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

const tool = await findTool();
if (tool === null) {
  process.stderr.write("h2spec is skipped: neither the tool nor Go, which would make it, is here\n");
}

describe.skipIf(tool === null)("h2spec", () => {
  let wire: WireServer;
  let port: number;

  beforeAll(async () => {
    port = await findFreePort();
    // For the server no time passes: it would reset the streams that the tool leaves open while that, on a busy machine,
    // is still opening more of them than are allowed.
    vi.useFakeTimers({ toFake: ["setInterval"] });
    wire = await startWireServer({ host: "127.0.0.1", port });
  });
  afterAll(async () => {
    vi.useRealTimers();
    await wire?.stop();
  });

  /** Ids of the tests that failed, as the tool takes them, and how many passed. */
  const check = async (...args: string[]): Promise<{ failed: string[]; passed: number }> => {
    const all = ["-h", "127.0.0.1", "-p", String(port), "-o", "10", ...args];
    const { stdout } = await run(tool ?? "", all, { timeout: 110_000 }).catch(
      (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
    );
    const passed = Number(/ (\d+) passed/.exec(stdout)?.[1] ?? 0);
    return { failed: listFailures(stdout), passed };
  };

  it("finds nothing wrong, but for what it does not know of a server without a table", async () => {
    const { failed, passed } = await check();
    expect(failed.toSorted()).toEqual([...NEEDS_A_TABLE, NEEDS_LARGE_HEADERS].toSorted());
    expect(passed).toBe(141);
  });

  it("sees frames over the announced size refused", async () => {
    expect(await check(NEEDS_LARGE_HEADERS, "--max-header-length", "400000")).toEqual({
      failed: [],
      passed: 1,
    });
  });

  it("finds nothing wrong with calls that are gRPC's either", async () => {
    const { failed } = await check("generic", "--path", "/grpc.health.v1.Health/Check");
    expect(failed.filter((id) => !NEEDS_A_TABLE.includes(id))).toEqual([]);
  });
});

/** The list after "Failures:" names groups by indented headings and cases by a cross. */
function listFailures(output: string): string[] {
  const failures: string[] = [];
  let suite = "";
  let section = "";
  for (const line of output.slice(output.indexOf("Failures:")).split("\n")) {
    if (line.startsWith("Generic")) suite = "generic";
    else if (line.startsWith("Hypertext")) suite = "http2";
    else if (line.startsWith("HPACK")) suite = "hpack";
    section = /^\s+([\d.]+)\. \S/.exec(line)?.[1] ?? section;
    const testCase = /^\s+× (\d+):/.exec(line)?.[1];
    if (testCase !== undefined) failures.push(`${suite}/${section}/${testCase}`);
  }
  return failures;
}
