import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { tryConnect } from "../../src/shared/host/connect.ts";
import { findFreePort } from "../support/free-port.ts";
import { waitFor } from "../support/wait.ts";
import {
  createTestFolder,
  type NotedProcess,
  startStandInStack,
  listSurvivors,
  waitForReadyLine,
} from "./support/stand-in-stack.ts";

const named = (processes: readonly NotedProcess[], name: string): NotedProcess => {
  const found = processes.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

/** Checks that a process (Redis) leaves its core to the one that has just woken it. */
function expectBatch(pid: number): void {
  // proc_pid_stat(5): the fields after the name begin with the third, the policy is the 41st.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const policy = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[38];
  const batch = "3";
  expect(policy).toBe(batch);
}

/** What is in a folder; a socket that was made anew has another inode. */
const listWithInodes = (folder: string) =>
  readdirSync(folder).map((name) => ({ name, inode: statSync(join(folder, name)).ino }));

describe("launch", () => {
  it("prints one JSON line on stdout when the stack is ready, starts Redis as a batch process, and leaves no process and no lock after signals from the terminal and from npm", async () => {
    const stack = await startStandInStack();
    const line = await waitForReadyLine(stack);
    expect(line).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      admin_url: "http://127.0.0.1:9",
      admin_token: expect.stringMatching(/^igw_op_/) as string,
      demo_key: "sk-igw-stand-in",
    });
    expect(stack.child.stdoutLines).toHaveLength(1);
    const dataDir = join(stack.folder, "data");
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    for (const file of ["operator-token", "demo-key"]) {
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    }
    expect(readFileSync(join(dataDir, "demo-key"), "utf8").trim()).toBe("sk-igw-stand-in");
    const processes = stack.processes();
    // Redis and Envoy with their guards, the gateway with two workers.
    expect(processes.length).toBeGreaterThanOrEqual(5);
    expectBatch(named(processes, "Redis").pid);
    // One signal may arrive twice.
    for (const signal of ["SIGINT", "SIGINT", "SIGTERM"] as const) stack.child.signal(signal);
    expect(await stack.child.waitForEnd()).toBe(0);
    expect(await listSurvivors(processes)).toEqual([]);
    expect(existsSync(join(dataDir, "up.lock"))).toBe(false);
    expect(existsSync(join(stack.folder, "run", "secrets"))).toBe(false);
  });

  it("leaves no process when it is killed outright", async () => {
    const stack = await startStandInStack();
    await waitForReadyLine(stack);
    const processes = stack.processes();
    stack.child.signal("SIGKILL");
    expect(await listSurvivors(processes)).toEqual([]);
  });

  it("leaves no process when it is killed outright while the gateway's supervisor is starting", async () => {
    const stack = await startStandInStack();
    const isStarted = () => stack.processes().some(({ name }) => name === "The gateway");
    await waitFor("the supervisor's process", isStarted, { intervalMs: 1 });
    const processes = stack.processes();
    stack.child.signal("SIGKILL");
    expect(await listSurvivors(processes)).toEqual([]);
  });

  it("leaves no process when it and the gateway's supervisor are killed outright", async () => {
    const stack = await startStandInStack();
    await waitForReadyLine(stack);
    const processes = stack.processes();
    stack.child.signal("SIGKILL");
    process.kill(named(processes, "The gateway").pid, "SIGKILL");
    expect(await listSurvivors(processes)).toEqual([]);
  });

  it("ends at once at a second signal while a worker hangs", async () => {
    const stack = await startStandInStack({ env: { STAND_IN: "hang" } });
    await waitForReadyLine(stack);
    const processes = stack.processes();
    await waitFor("its end", () => {
      stack.child.signal("SIGINT");
      return stack.child.ended;
    });
    expect(stack.child.ended).toBe(130);
    expect(await listSurvivors(processes)).toEqual([]);
  });

  it("restarts a worker that was killed; of another part, stops everything and says which ended", async () => {
    const stack = await startStandInStack();
    await waitForReadyLine(stack);
    const before = stack.processes();
    const gateway = named(before, "The gateway");
    const workers = before.filter(({ name }) => name.startsWith("child")).map(({ pid }) => pid);
    const isWorker = (pid: number): boolean =>
      existsSync(`/proc/${pid}/cmdline`) &&
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("\0worker\0");
    const killed = workers.find(isWorker);
    process.kill(killed!, "SIGKILL");
    const successor = await waitFor("another worker", () =>
      stack.processes().find(({ pid }) => !workers.includes(pid) && pid !== gateway.pid && isWorker(pid)),
    );
    expect(successor.pid).not.toBe(killed);
    const processes = stack.processes();
    process.kill(named(processes, "Redis").pid, "SIGKILL");
    expect(await stack.child.waitForEnd()).toBe(1);
    expect(stack.child.stderr).toContain("Redis exited unexpectedly (signal SIGKILL)");
    expect(await listSurvivors(processes)).toEqual([]);
  });
});

describe("launch, when it cannot start", () => {
  it.each(["listen", "admin"])("names the port of %s that is in use and starts nothing", async (section) => {
    const port = await findFreePort();
    const server = createServer().listen(port, "127.0.0.1");
    onTestFinished(() => void server.close());
    const stack = await startStandInStack({ overrides: { [section]: { port } } });
    expect(await stack.child.waitForEnd()).toBe(1);
    expect(stack.child.stderr).toContain(`Port ${port} is in use (127.0.0.1:${port}, \`${section}.port\`)`);
    expect(existsSync(join(stack.folder, "data", "redis"))).toBe(false);
  });

  it("says why a worker could not start", async () => {
    const stack = await startStandInStack({ env: { STAND_IN: "fail" } });
    expect(await stack.child.waitForEnd()).toBe(1);
    expect(stack.child.stderr).toContain("could not start: the stand-in cannot start");
    expect(await listSurvivors(stack.processes())).toEqual([]);
  });

  it("shows Envoy's last lines when Envoy ends before the stack is ready", async () => {
    const stack = await startStandInStack({ env: { ENVOY_STAND_IN: "exit" } });
    expect(await stack.child.waitForEnd()).toBe(1);
    expect(stack.child.stderr).toContain("Envoy ended (exit code 3)");
    expect(stack.child.stderr).toContain("stand-in for Envoy");
    expect(await listSurvivors(stack.processes())).toEqual([]);
  });

  it("refuses a data folder and a folder of sockets that another launcher uses, and leaves that one's private Redis reachable", async () => {
    const first = await startStandInStack();
    await waitForReadyLine(first);
    const other = await startStandInStack({ overrides: { data_dir: join(first.folder, "data") } });
    expect(await other.child.waitForEnd()).toBe(1);
    expect(other.child.stderr).toContain(`Another gateway (process ${first.child.pid})`);
    const sockets = join(first.folder, "run");
    const before = listWithInodes(sockets);
    const second = await startStandInStack({ overrides: { data_dir: "data", sidecar: { sockets } } });
    expect(await second.child.waitForEnd()).toBe(1);
    expect(second.child.stderr).toContain(
      `Another gateway (process ${first.child.pid}) has its sockets in ${sockets}. Stop it, or set another \`sidecar.sockets\`.`,
    );
    expect(listWithInodes(sockets)).toEqual(before);
    expect(second.processes()).toEqual([]);
    await expect(tryConnect({ address: { path: join(sockets, "redis.sock") } })).resolves.toBeGreaterThan(0);
  });

  it("refuses a folder of sockets in which somebody listens whose processes cannot be seen", async () => {
    const folder = createTestFolder();
    const path = join(folder, "redis.sock");
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    const stack = await startStandInStack({ overrides: { data_dir: "data", sidecar: { sockets: folder } } });
    expect(await stack.child.waitForEnd()).toBe(1);
    expect(stack.child.stderr).toContain(`Another gateway listens on ${path}. Stop it`);
    expect(stack.processes()).toEqual([]);
  });
});
