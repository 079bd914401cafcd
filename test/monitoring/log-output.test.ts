/** The log on a disk that takes nothing: lines are lost, the process is not. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { waitFor } from "../support/wait.ts";

const LOGGER = fileURLToPath(new URL("../../src/shared/telemetry/logger.ts", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "igw-log-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A process with a logger, whose stderr is this file and which does as the lines of its stdin say. */
function startWriter(file: string) {
  const program = `
    const { createLogger } = await import(${JSON.stringify(LOGGER)});
    const logger = createLogger("writer", "info");
    let count = 0;
    process.stdin.on("data", (text) => {
      for (const order of String(text).trim().split("\\n")) {
        if (order === "end") process.exit(0);
        logger.info({ count: (count += 1) }, "line");
        process.stdout.write("written\\n");
      }
    });`;
  const stderr = openSync(file, "a");
  const child = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", program],
    {
      stdio: ["pipe", "pipe", stderr],
    },
  );
  closeSync(stderr);
  let answers = "";
  child.stdout!.on("data", (text: Buffer) => (answers += text.toString()));
  return {
    child,
    log: async (): Promise<void> => {
      const before = answers.length;
      child.stdin!.write("log\n");
      await waitFor("the line to be given to the log", () => answers.length > before);
    },
  };
}

describe("the log", () => {
  it("keeps the process alive on a device that is always full, and lets it end", async () => {
    const { child, log } = startWriter("/dev/full");
    for (let count = 0; count < 50; count += 1) await log();
    child.stdin!.write("end\n");
    const [code] = (await once(child, "exit")) as [number | null];
    expect(code).toBe(0);
  });

  it("says how many lines were lost as soon as the disk takes lines again", async () => {
    const file = join(dir, "limited.log");
    const { child, log } = startWriter(file);
    const limit = (bytes: string): void =>
      void execFileSync("prlimit", ["--pid", String(child.pid), `--fsize=${bytes}:`]);
    await log();
    await waitFor("the first line", () => readFileSync(file, "utf8").includes('"count":1'));
    limit("1");
    for (let count = 0; count < 5; count += 1) await log();
    limit("unlimited");
    const lost = await waitFor("the loss to be told", async () => {
      await log();
      const text = readFileSync(file, "utf8");
      return text.split("\n").find((line) => line.includes("were lost"));
    });
    expect(JSON.parse(lost)).toMatchObject({ level: 40, component: "log" });
    expect((JSON.parse(lost) as { lines: number }).lines).toBeGreaterThan(0);
    child.stdin!.write("end\n");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
