import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tryLock, withLock } from "../../src/operation/setup/lock.js";
import { createTestFolder } from "./support/stand-in-stack.ts";

const MODULE = new URL("../../src/operation/setup/lock.js", import.meta.url).href;

/** Runs a script in another process; it has the lock's module as `lock`. */
function startScript(script: string) {
  const code = `const lock = await import(${JSON.stringify(MODULE)});\n${script}`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

describe("tryLock", () => {
  it("gives the lock to one holder and names it to the others, until it is released", () => {
    const path = join(createTestFolder(), "deep", "one.lock");
    const first = tryLock(path);
    expect(first.lock).not.toBeNull();
    expect(tryLock(path).holder).toMatchObject({ pid: process.pid });
    first.lock?.release();
    expect(tryLock(path).lock).not.toBeNull();
  });

  it("takes the lock of a dead holder over, with what that had noted", () => {
    const path = join(createTestFolder(), "one.lock");
    const note = `const {lock: own} = lock.tryLock(${JSON.stringify(path)}); own.setNote({a: 1});`;
    const code = `const lock = await import(${JSON.stringify(MODULE)});\n${note}`;
    expect(spawnSync(process.execPath, ["--input-type=module", "-e", code]).status).toBe(0);
    expect(existsSync(path)).toBe(true);
    expect(tryLock(path).lock?.abandoned).toMatchObject({ note: { a: 1 } });
  });

  it("does not take a broken file for a holder", () => {
    const path = join(createTestFolder(), "one.lock");
    writeFileSync(path, '{"pid":');
    expect(tryLock(path).lock?.abandoned).toBeNull();
  });
});

describe("withLock", () => {
  it("lets one process at a time in, though a dead one holds the lock at first", async () => {
    const folder = createTestFolder();
    const path = join(folder, "one.lock");
    const log = join(folder, "log");
    writeFileSync(path, JSON.stringify({ pid: 999_999_999, startTime: "1" }));
    const script = `
      import { appendFileSync } from "node:fs";
      await lock.withLock(${JSON.stringify(path)}, async () => {
        appendFileSync(${JSON.stringify(log)}, "in ");
        await new Promise((resolve) => setTimeout(resolve, 20));
        appendFileSync(${JSON.stringify(log)}, "out ");
      });`;
    const processes = Array.from({ length: 4 }, () => startScript(script));
    await Promise.all(processes.map((one) => once(one, "exit")));
    expect(readFileSync(log, "utf8").trim()).toBe(Array(4).fill("in out").join(" "));
    expect(existsSync(path)).toBe(false);
  });

  it("tells once that it waits, and for whom", async () => {
    const folder = createTestFolder();
    const path = join(folder, "one.lock");
    const script = `lock.tryLock(${JSON.stringify(path)}); console.log("held"); setInterval(() => {}, 1000);`;
    const holder = startScript(script);
    await once(holder.stdout, "data");
    const told: number[] = [];
    const done = withLock(path, async () => appendFileSync(join(folder, "log"), "in"), {
      onWait: ({ pid }) => {
        told.push(pid);
        holder.kill("SIGKILL");
      },
    });
    await done;
    expect(told).toEqual([holder.pid]);
  });
});
