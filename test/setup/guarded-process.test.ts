import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startGuarded } from "../../src/operation/launcher/guarded-process.ts";
import { isRunning } from "../../src/operation/setup/process-identity.js";
import { startChild } from "../support/child.ts";
import { waitFor } from "../support/wait.ts";
import { createTestFolder } from "./support/stand-in-stack.ts";

const start = (args: readonly string[]) => {
  const logPath = join(createTestFolder(), "program.log");
  return startGuarded({ name: "A program", command: "/bin/sh", args, env: process.env, logPath });
};

describe("startGuarded", () => {
  it("passes arguments as they are, takes the program's process id, and keeps the last lines it wrote", async () => {
    const program = start(["-c", 'echo "$$|$1|$2"', "name", "a b", "$HOME 'quoted'"]);
    expect(await program.ended).toBe("exit code 0");
    expect(program.log.tail(1)).toBe(`${program.identity.pid}|a b|$HOME 'quoted'`);
  });

  it("ends a program that ignores SIGTERM once its bound is over", async () => {
    const program = start(["-c", "trap '' TERM; echo up; while :; do sleep 0.05; done"]);
    await waitFor("its start", () => program.log.tail(1) === "up");
    expect(await program.stop(200)).toBe("signal SIGKILL");
  });

  it("tells of a program that does not exist", async () => {
    const logPath = join(createTestFolder(), "none.log");
    const args = { name: "None", command: "/nowhere/none", args: [], env: process.env, logPath };
    const program = startGuarded(args);
    expect(await program.ended).toBe("exit code 127");
    expect(program.describeLog()).toContain("/nowhere/none");
  });

  it("ends the program when the process that started it is killed outright", async () => {
    const module = new URL("../../src/operation/launcher/guarded-process.ts", import.meta.url).href;
    const logPath = join(createTestFolder(), "program.log");
    const script = `
      const { startGuarded } = await import(${JSON.stringify(module)});
      const program = startGuarded({ name: "A program", command: "sleep", args: ["600"],
        env: process.env, logPath: ${JSON.stringify(logPath)} });
      console.log(JSON.stringify(program.identity));`;
    const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", script];
    const child = startChild(process.execPath, args);
    const identity = await child.waitForLine(
      "the program's identity",
      (line) => JSON.parse(line) as { pid: number; startTime: string | null },
    );
    expect(isRunning(identity)).toBe(true);
    child.signal("SIGKILL");
    await waitFor("the end of the program", () => !isRunning(identity));
  });
});

describe("isRunning", () => {
  it("tells a process from a later one that was given the same id", () => {
    const sleeper = spawn("sleep", ["60"]);
    const pid = sleeper.pid ?? 0;
    expect(isRunning({ pid, startTime: null })).toBe(true);
    expect(isRunning({ pid, startTime: "1" })).toBe(process.platform !== "linux");
    sleeper.kill("SIGKILL");
  });
});
