import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../src/shared/config/load.ts";
import { transferConfig } from "../../src/shared/config/transfer.ts";
import { isRunning } from "../../src/operation/setup/process-identity.js";
import { Supervisor, type WorkerCrash } from "../../src/operation/supervisor/supervisor.ts";
import { waitFor } from "../support/wait.ts";
import { createTestFolder } from "./support/stand-in-stack.ts";

const CONFIG = loadConfig(fileURLToPath(new URL("../fixtures/config/good.yaml", import.meta.url)), {
  secrets: "none",
});
const ENTRY = fileURLToPath(new URL("./support/tiny-worker.mjs", import.meta.url));

function createSupervisor(options: { behaviour?: string; addresses?: readonly string[] } = {}) {
  const crashes: WorkerCrash[] = [];
  const supervisor = new Supervisor({
    config: CONFIG,
    entry: { modulePath: ENTRY, args: [], env: { ...process.env, BEHAVIOUR: options.behaviour } },
    addresses: options.addresses ?? ["127.0.0.1:1", "127.0.0.1:2"],
    onRestart: (crash) => void crashes.push(crash),
    startBoundMs: options.behaviour === "late" ? 200 : 20_000,
    backoff: { firstMs: 1, maxMs: 20, soundAfterMs: 60_000 },
  });
  onTestFinished(() => supervisor.kill());
  const running = (): number =>
    supervisor.workerPids.filter((pid) => isRunning({ pid, startTime: null })).length;
  return { supervisor, crashes, running };
}

describe("Supervisor", () => {
  it("starts one process per address, whose command line says `worker`, its index and its address", async () => {
    const { supervisor } = createSupervisor();
    await supervisor.start();
    const [, second = 0] = supervisor.workerPids;
    expect(supervisor.workerPids).toHaveLength(2);
    expect(readFileSync(`/proc/${second}/cmdline`, "utf8").split("\0").slice(-6, -1)).toEqual([
      "worker",
      "--index",
      "1",
      "--address",
      "127.0.0.1:2",
    ]);
  });

  it("starts another process for one that was killed, and leaves the others alone", async () => {
    const { supervisor, crashes } = createSupervisor();
    await supervisor.start();
    const [first = 0, second = 0] = supervisor.workerPids;
    process.kill(first, "SIGKILL");
    await waitFor(
      "another worker",
      () => supervisor.workerPids[0] !== first && supervisor.workerPids[0] !== undefined,
    );
    expect(crashes).toEqual([{ index: 0, exitedPid: first, how: "signal SIGKILL", delayMs: 1 }]);
    expect(supervisor.workerPids[1]).toBe(second);
  });

  it("removes the socket that a killed worker left before the next one starts", async () => {
    const socket = join(createTestFolder(), "gateway-0.sock");
    writeFileSync(socket, "");
    const { supervisor } = createSupervisor({ addresses: [`unix:${socket}`] });
    await supervisor.start();
    expect(() => readFileSync(socket)).toThrow("ENOENT");
  });

  it("passes messages and catalogs to all workers and theirs back, with the sender's index", async () => {
    const { supervisor } = createSupervisor();
    const got: unknown[] = [];
    supervisor.channel.onMessage((body, index) => void got.push({ body, index }));
    await supervisor.start();
    supervisor.channel.send("hello");
    supervisor.replaceCatalog([]);
    await waitFor("four answers", () => got.length === 4);
    for (const index of [0, 1]) {
      expect(got).toContainEqual({ body: { index, got: "hello" }, index });
      expect(got).toContainEqual({ body: { index, got: { type: "catalog", catalog: [] } }, index });
    }
  });

  it("gives a worker that asks the configuration with the catalog that is in force, also one that takes another's place", async () => {
    const { supervisor } = createSupervisor({ behaviour: "ask", addresses: ["127.0.0.1:1"] });
    const got: unknown[] = [];
    supervisor.channel.onMessage((body) => void got.push(body));
    await supervisor.start();
    await waitFor("the first worker's", () => got.length === 1);
    const [entry] = CONFIG.catalog;
    const catalog = entry === undefined ? [] : [{ ...entry, id: "acme/new" }];
    supervisor.replaceCatalog(catalog);
    process.kill(supervisor.workerPids[0] ?? 0, "SIGKILL");
    const second = { type: "configuration", config: transferConfig({ ...CONFIG, catalog }) };
    await waitFor(
      "the second worker's",
      () => got.length >= 2 && JSON.stringify(got.at(-1)).includes('"configuration"'),
    );
    expect(got.at(-1)).toEqual({ index: 0, got: second });
  });

  it("ends all workers orderly and starts none again", async () => {
    const { supervisor, crashes, running } = createSupervisor();
    await supervisor.start();
    expect(await supervisor.stop(5_000)).toBe(true);
    expect(running()).toBe(0);
    expect(crashes).toEqual([]);
  });

  it.each([
    { behaviour: "hang", name: "does not drain within its bound" },
    { behaviour: "dirty", name: "could not settle everything" },
  ])("says so when a worker $name", async ({ behaviour }) => {
    const { supervisor, running } = createSupervisor({ behaviour });
    await supervisor.start();
    expect(await supervisor.stop(10)).toBe(false);
    expect(running()).toBe(0);
  });

  it.each([
    { behaviour: "exit", message: /worker \d ended before it was ready \(exit code 7\)/ },
    { behaviour: "fail", message: /worker \d could not start: no such thing/ },
    { behaviour: "late", message: /worker \d was not ready within 0\.2 s/ },
  ])(
    "gives up a first start that cannot succeed ($behaviour), and leaves no worker",
    async ({ behaviour, message }) => {
      const { supervisor, running } = createSupervisor({ behaviour });
      await expect(supervisor.start()).rejects.toThrow(message);
      await waitFor("the end of all workers", () => running() === 0);
    },
  );
});
