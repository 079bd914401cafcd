import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSpoolLine } from "../../../src/data-path/spool/entry.ts";
import type { JournalFile } from "../../../src/data-path/spool/request-journal.ts";
import type { OpenedRequest } from "../../../src/data-path/spool/opened-request.ts";
import { waitFor } from "../../support/wait.ts";
import { createSpoolTest, IDENTITY, NOW_MS } from "./spool-fixture.ts";

const LATER = { generation: "000000000000002-2" };
/** The index of the worker, the generation of the process and the number of the file. */
const FIRST_FILE = "worker-0.000000000000001-1.000000.begun";

function opened(requestId: string, changes: Partial<OpenedRequest> = {}): OpenedRequest {
  return { ...IDENTITY, requestId, floorMicrocents: 7n, floorInputTokens: 3, ...changes };
}

/** From now on this process's files may have so many bytes: a write past that is cut, as on a full disk. */
function limitFiles(bytes: string): void {
  execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`]);
}

function journalIn(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith(".begun"))
    .sort();
}

describe("RequestJournal", () => {
  it("has a request's line in its file when append resolves", async () => {
    const { dir, open } = await createSpoolTest();
    await open().journal.append(opened("req_1", { tags: "team=a" }));
    expect(journalIn(dir)).toEqual([FIRST_FILE]);
    const [line, rest] = readFileSync(join(dir, FIRST_FILE), "utf8").split("\n");
    expect(parseSpoolLine(line!)).toEqual({
      kind: "begun",
      atMs: NOW_MS,
      opened: opened("req_1", { tags: "team=a" }),
    });
    expect(rest).toBe("");
  });

  it("writes requests that come together at once, and keeps the file until none of them needs it", async () => {
    const { dir, open } = await createSpoolTest();
    const spool = open();
    const { journal } = spool;
    const first = journal.append(opened("req_1"));
    const second = Promise.resolve().then(() => journal.append(opened("req_2")));
    const file = (await first)!;
    const lines = readFileSync(join(dir, FIRST_FILE), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => parseSpoolLine(line))).toMatchObject([
      { opened: { requestId: "req_1" } },
      { opened: { requestId: "req_2" } },
    ]);
    expect(await second).toBe(file);
    journal.release(file);
    journal.close();
    expect(journalIn(dir)).toEqual([FIRST_FILE]);
    journal.release(file);
    await waitFor("the file to go", () => journalIn(dir).length === 0);
  });

  it("writes what has come before it is closed", async () => {
    const { dir, open } = await createSpoolTest();
    const { journal } = open();
    const written = journal.append(opened("req_1"));
    journal.close();
    expect(journalIn(dir)).toEqual([FIRST_FILE]);
    expect(await written).not.toBeNull();
  });

  it("is sent by the next process, each request only as long as Redis has it entered, and its file goes", async () => {
    const { dir, open, redis } = await createSpoolTest();
    redis.isAway = false;
    const { journal } = open();
    await Promise.all([journal.append(opened("req_1")), journal.append(opened("req_2"))]);
    const next = open(LATER);
    await next.start();
    await waitFor("the journal to be sent", () => next.isEmpty);
    expect(redis.charges).toMatchObject([
      { requestId: "req_1", sequence: 0, totalMicrocents: 0n, onlyIfEntered: true, final: null },
      { requestId: "req_2", sequence: 0, estimate: { totalMicrocents: 7n, tokens: { inputTokens: 3 } } },
    ]);
    expect(journalIn(dir)).toEqual([]);
  });

  it("keeps the name's end when the next process takes a file over that it cannot send yet", async () => {
    const { dir, open } = await createSpoolTest();
    await open().journal.append(opened("req_1"));
    await open(LATER).start();
    expect(journalIn(dir)).toEqual(["worker-0.000000000000002-2.000000.begun"]);
  });

  it("sends nothing that is older than Redis keeps a request entered, and reports nothing of it", async () => {
    const { dir, open, redis, errors } = await createSpoolTest();
    redis.isAway = false;
    await open().journal.append(opened("req_1"));
    const clock = { nowMs: () => NOW_MS + 7 * 86_400_000, monotonicMs: () => performance.now() };
    const next = open({ ...LATER, clock });
    await next.start();
    await waitFor("the journal to be read", () => next.isEmpty);
    expect(redis.charges).toEqual([]);
    expect(errors).toEqual([]);
    expect(readdirSync(dir)).toEqual([]);
  });

  it("removes a full file once none of its requests needs it, and keeps one of which one does", async () => {
    const { dir, open } = await createSpoolTest();
    const { journal } = open();
    const long = { requestedModel: "m".repeat(100_000) };
    const files: (JournalFile | null)[] = [];
    for (let index = 0; index < 23; index += 1) {
      files.push(await journal.append(opened(`req_${index}`, long)));
    }
    const [first, second, third] = journalIn(dir);
    expect(third).toBeDefined();
    for (const file of files.filter((each) => each === files[0]).slice(1)) journal.release(file!);
    expect(journalIn(dir)).toEqual([first, second, third]);
    journal.release(files[0]!);
    await waitFor("the first file to go", () => journalIn(dir).length === 2);
    expect(journalIn(dir)).toEqual([second, third]);
  });

  it("leaves no file at a regular end when nobody needs it, and leaves it when somebody does", async () => {
    const { dir, open } = await createSpoolTest();
    const needless = open();
    needless.journal.release((await needless.journal.append(opened("req_1")))!);
    await needless.stop(0);
    await waitFor("the file to go", () => journalIn(dir).length === 0);
    const needed = open(LATER);
    await needed.journal.append(opened("req_2"));
    await needed.stop(0);
    expect(journalIn(dir)).toHaveLength(1);
  });

  it("takes nothing while the disk does not, does not ask it each time, and goes on when it does again", async () => {
    let nowMs = 0;
    const { dir, open } = await createSpoolTest();
    const clock = { nowMs: () => NOW_MS, monotonicMs: () => nowMs };
    const warnings: string[] = [];
    const logger = {
      info: () => undefined,
      warn: (_fields: object, message: string) => void warnings.push(message),
      error: () => undefined,
    };
    const { journal } = open({ dir: join(dir, "spool"), clock, logger });
    mkdirSync(dirname(dir), { recursive: true });
    writeFileSync(dir, "no folder");
    const together = [journal.append(opened("req_1")), journal.append(opened("req_2"))];
    expect(await Promise.all(together)).toEqual([null, null]);
    expect(await journal.append(opened("req_3"))).toBeNull();
    expect(warnings).toEqual(["spool disk not writable, requests wait for their record in redis"]);
    nowMs += 5_000;
    expect(await journal.append(opened("req_4"))).toBeNull();
    expect(warnings).toHaveLength(2);
  });

  it("leaves no line of requests that came together and were not all taken", async () => {
    const { dir, open } = await createSpoolTest();
    const { journal } = open();
    const earlier = await journal.append(opened("req_earlier"));
    const file = join(dir, FIRST_FILE);
    const { size } = statSync(file);
    limitFiles("4096");
    const together = Array.from({ length: 20 }, (_, count) => journal.append(opened(`req_${count}`)));
    const taken = await Promise.all(together).finally(() => limitFiles("unlimited"));
    expect(earlier).not.toBeNull();
    expect(new Set(taken)).toEqual(new Set([null]));
    expect(statSync(file).size).toBe(size);
  });

  it("takes no more than 64 MiB of requests that Redis has no record of", async () => {
    const { open } = await createSpoolTest();
    const { journal } = open();
    const long = { requestedModel: "m".repeat(900_000) };
    let taken = 0;
    while (taken < 200 && (await journal.append(opened(`req_${taken}`, long))) !== null) taken += 1;
    expect(taken).toBe(75);
  });
});
