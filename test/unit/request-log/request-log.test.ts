import * as fc from "fast-check";
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatRequestLogLine } from "../../../src/data-path/request-log/line.ts";
import { RequestLog, type RequestLogOptions } from "../../../src/data-path/request-log/request-log.ts";
import { waitFor } from "../../support/wait.ts";
import { IDENTITY, OK, PRICE } from "../settlement/account-fixture.ts";
import { chooseRates, createPrice } from "../../../src/data-path/pricing/price.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";

const seen = { dir: "", nowMs: 0, errors: [] as object[] };
beforeEach(() => {
  seen.dir = mkdtempSync(join(tmpdir(), "igw-log-"));
  seen.nowMs = Date.UTC(2026, 10, 21, 23, 59, 59);
  seen.errors = [];
});
afterEach(() => {
  rmSync(seen.dir, { recursive: true });
});

function open(options: Partial<RequestLogOptions> = {}): RequestLog {
  return new RequestLog({
    dir: join(seen.dir, "requests"),
    writer: "worker-0",
    clock: { nowMs: () => seen.nowMs },
    logger: { error: (fields) => void seen.errors.push(fields) },
    ...options,
  });
}

function readFiles(): Record<string, string[]> {
  const dir = join(seen.dir, "requests");
  const read = (name: string) =>
    readFileSync(join(dir, name), "utf8")
      .split("\n")
      .filter((line) => line !== "");
  return Object.fromEntries(
    readdirSync(dir)
      .toSorted()
      .map((name) => [name, read(name)]),
  );
}

/** Names of files that have something in them. */
function seenParts(): string[] {
  const dir = join(seen.dir, "requests");
  if (!existsSync(dir)) return [];
  return Object.entries(readFiles()).flatMap(([name, lines]) => (lines.length > 0 ? [name] : []));
}

/** In a process of its own, whose files may have 20 KiB until it has failed so often. */
async function writeToFullDisk(
  lines: number,
  failures: number,
): Promise<{ readonly failures: number; readonly openFiles: number }> {
  const program = fileURLToPath(new URL("write-to-full-disk.ts", import.meta.url));
  const command = 'ulimit -S -f 20 && exec "$0" --import tsx "$@"';
  const args = [process.execPath, program, join(seen.dir, "requests"), String(lines), String(failures)];
  const { stdout } = await promisify(execFile)("bash", ["-c", command, ...args]);
  return JSON.parse(stdout) as { failures: number; openFiles: number };
}

describe("RequestLog", () => {
  it("has each line once, and whole, after a disk that took a part of a write", async () => {
    expect((await writeToFullDisk(50, 1)).failures).toBeGreaterThan(0);
    const lines = Object.values(readFiles()).flat();
    expect(lines.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual(
      Array.from({ length: 50 }, (_, index) => index),
    );
  });

  it("leaves no file open when a disk does not take the end of a torn line, however often it is tried", async () => {
    const dir = join(seen.dir, "requests");
    mkdirSync(dir);
    writeFileSync(join(dir, "2026-11-21.worker-0.0.jsonl"), "x".repeat(30_000));
    expect((await writeToFullDisk(1, 3)).openFiles).toBe(0);
    expect(readFiles()["2026-11-21.worker-0.0.jsonl"]).toHaveLength(2);
  });

  it("writes each line in the order it came, to the file of the day and the writer", async () => {
    const log = open();
    const lines = Array.from({ length: 1_000 }, (_, index) => `{"n":${index}}`);
    for (const line of lines) log.write(line);
    await log.close();
    expect(readFiles()).toEqual({ "2026-11-21.worker-0.0.jsonl": lines });
  });

  it("begins a new file with a new day", async () => {
    const log = open();
    log.write("1");
    await waitFor("the first line", () => readFiles()["2026-11-21.worker-0.0.jsonl"]?.length === 1);
    seen.nowMs += 1_000;
    log.write("2");
    await log.close();
    expect(readFiles()).toEqual({
      "2026-11-21.worker-0.0.jsonl": ["1"],
      "2026-11-22.worker-0.0.jsonl": ["2"],
    });
  });

  it("begins a new part when one is full", async () => {
    const log = open({ maxFileBytes: 4 });
    for (const line of ["first", "second", "third"]) {
      log.write(line);
      await waitFor(line, () => Object.values(readFiles()).flat().includes(line));
    }
    await log.close();
    expect(Object.values(readFiles())).toEqual([["first"], ["second"], ["third"]]);
    expect(Object.keys(readFiles()).at(-1)).toBe("2026-11-21.worker-0.2.jsonl");
  });

  it("begins no part before the newest one: the others may be deleted while it writes", async () => {
    const log = open({ maxFileBytes: 4 });
    log.write("1111");
    await waitFor("the first part", () => seenParts().length === 1);
    log.write("2222");
    await waitFor("the second part", () => seenParts().length === 2);
    rmSync(join(seen.dir, "requests", seenParts()[0] ?? ""));
    log.write("3333");
    await log.close();
    expect(readFiles()).toEqual({
      "2026-11-21.worker-0.1.jsonl": ["2222"],
      "2026-11-21.worker-0.2.jsonl": ["3333"],
    });
  });

  it("goes on after a restart, on a line of its own even behind half a line", async () => {
    const first = open();
    first.write("1");
    await first.close();
    writeFileSync(join(seen.dir, "requests/2026-11-21.worker-0.0.jsonl"), '1\n{"cut');
    const second = open();
    second.write("2");
    await second.close();
    expect(readFiles()).toEqual({ "2026-11-21.worker-0.0.jsonl": ["1", '{"cut', "2"] });
  });

  it("keeps what cannot be written until it can, and never fails its caller", async () => {
    writeFileSync(join(seen.dir, "requests"), "in the way");
    const log = open();
    log.write("1");
    log.write("2");
    await waitFor("the failure to be reported", () => seen.errors.length > 0);
    rmSync(join(seen.dir, "requests"));
    log.write("3");
    await waitFor("the lines", () => readFiles()["2026-11-21.worker-0.0.jsonl"]?.length === 3);
    await log.close();
    expect(readFiles()).toEqual({ "2026-11-21.worker-0.0.jsonl": ["1", "2", "3"] });
  });

  it("drops what does not fit into its buffer, and reports how many lines", async () => {
    const log = open({ maxBufferedLength: 10 });
    for (let line = 0; line < 8; line += 1) log.write("aaaa");
    await log.close();
    expect(readFiles()["2026-11-21.worker-0.0.jsonl"]).toEqual(["aaaa", "aaaa"]);
    expect(seen.errors).toEqual([{ lines: 6 }]);
  });

  it("ends in time when the disk never works", async () => {
    writeFileSync(join(seen.dir, "requests"), "in the way");
    const log = open();
    log.write("1");
    await log.close();
    expect(seen.errors.length).toBeGreaterThan(0);
  });
});

describe("formatRequestLogLine", () => {
  const request = {
    identity: { ...IDENTITY, requestId: "req_019aa3b0-5c00-7000-8000-000000000000" },
    price: chooseRates(PRICE, null, 3),
    outcome: "complete",
    result: OK,
    tools: [],
    tokens: { ...NO_TOKENS, inputTokens: 1, cachedInputTokens: 2, outputTokens: 3, reasoningTokens: 1 },
    estimated: true,
    costMicrocents: 123_456_789_012_345_678_901n,
  } as const;

  it("writes amounts with all their digits", () => {
    const line = formatRequestLogLine(request, Date.UTC(2026, 10, 21));
    expect(line).toContain('"cost_microcents":123456789012345678901}');
    expect(line).toContain('"prices":{"input":1000000,"cached_input":100000,"output":10000000}');
    expect(line).not.toContain("\n");
  });

  it("says which of the model's prices it was, and the rates that differ from what they fall back to", () => {
    const flex = { name: "flex", input: 10n, output: 20n, cacheWrite: 12n, request: 5n, tiers: [] };
    const tiers = [{ abovePromptTokens: 2, input: 11n, output: 21n, reasoning: 9n }];
    const from = "2026-11-01";
    const price = createPrice({ from, input: 1n, output: 2n, tiers: [], serviceTiers: [{ ...flex, tiers }] });
    const prices = (promptTokens: number): unknown => {
      const charged = chooseRates(price, "flex", promptTokens);
      return (JSON.parse(formatRequestLogLine({ ...request, price: charged }, 0)) as { prices: unknown })
        .prices;
    };
    const place = { service_tier: "flex", price_from: from };
    expect(prices(2)).toEqual({
      input: 10,
      cached_input: 10,
      cache_write: 12,
      output: 20,
      request: 5,
      ...place,
    });
    const large = { input: 11, cached_input: 11, output: 21, reasoning: 9, above_prompt_tokens: 2 };
    expect(prices(3)).toEqual({ ...large, ...place });
  });

  it("is JSON whatever stands in a text", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("a", " ", '"', "\\", "/", "\n", "\0", "\u007f", "é", "\ud800", "😀"),
        }),
        (text) => {
          const identity = { ...request.identity, model: text, requestedModel: text, route: text };
          const trace = { timeline: null, upstream: { name: "local", status: null, cause: text } };
          const line = formatRequestLogLine({ ...request, identity, result: { ...OK, trace } }, 0);
          expect(line).toContain(JSON.stringify(text));
          const { model, requested_model, route, upstream_cause } = JSON.parse(line) as Record<
            string,
            unknown
          >;
          expect([model, requested_model, route, upstream_cause]).toEqual([text, text, text, text]);
        },
      ),
    );
  });

  it("has the admission's time from the id, and null where the id has none", () => {
    const read = (line: string) => JSON.parse(line) as { admitted_at: string | null };
    expect(read(formatRequestLogLine(request, 0)).admitted_at).toMatch(/^2025-\d\d-\d\dT/u);
    const odd = { ...request, identity: { ...IDENTITY, requestId: "odd" } };
    expect(read(formatRequestLogLine(odd, 0)).admitted_at).toBe(null);
  });
});
