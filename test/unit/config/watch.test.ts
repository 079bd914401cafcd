import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ConfigError } from "../../../src/config/config-error.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { ConfigWatcher, type CatalogChange } from "../../../src/config/watch.ts";

const good = readFileSync(new URL("../../fixtures/config/good.yaml", import.meta.url), "utf8");
const renamed = good.replace("upstream_model: echo", "upstream_model: echo-2");
const bad = good.replace("upstream_model", "upstrem_model");

let folder: string;
let file: string;
let watcher: ConfigWatcher;
let changes: CatalogChange[];
let refusals: ConfigError[];

function start(pollIntervalMs = 60_000): void {
  watcher = new ConfigWatcher({
    file,
    env: {},
    running: loadConfig(file, { env: {} }),
    pollIntervalMs,
    onChange: (change) => changes.push(change),
    onRefused: (error) => refusals.push(error),
  });
}

/** Long, because it only ends a test that fails. */
const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 10 });
const upstreamModels = () => changes.map(({ config }) => config.catalog[0]?.upstreamModel);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "watch-"));
  file = join(folder, "gateway.yaml");
  writeFileSync(file, good);
  changes = [];
  refusals = [];
});

afterEach(() => {
  watcher.close();
  rmSync(folder, { recursive: true });
});

describe("ConfigWatcher", () => {
  it("sees a file that is written in place", async () => {
    start();
    writeFileSync(file, renamed);
    await eventually(() => expect(upstreamModels()).toEqual(["echo-2"]));
  });

  it("sees a new file renamed into place, as editors do", async () => {
    start();
    writeFileSync(join(folder, ".gateway.yaml.swp"), renamed);
    renameSync(join(folder, ".gateway.yaml.swp"), file);
    await eventually(() => expect(upstreamModels()).toEqual(["echo-2"]));
  });

  it("sees the swap of the ..data symlink, as Kubernetes does with ConfigMaps", async () => {
    for (const [version, text] of Object.entries({ "..v1": good, "..v2": renamed })) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, "gateway.yaml"), text);
    }
    symlinkSync("..v1", join(folder, "..data"));
    rmSync(file);
    symlinkSync("..data/gateway.yaml", file);
    start();
    symlinkSync("..v2", join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    await eventually(() => expect(upstreamModels()).toEqual(["echo-2"]));
  });

  it("polls where the file system reports nothing: a file that is a link to another folder", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "elsewhere-"));
    try {
      writeFileSync(join(elsewhere, "gateway.yaml"), good);
      rmSync(file);
      symlinkSync(join(elsewhere, "gateway.yaml"), file);
      start(20);
      writeFileSync(join(elsewhere, "gateway.yaml"), renamed);
      await eventually(() => expect(upstreamModels()).toEqual(["echo-2"]));
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it("sees what changed between the start of the process and the watch", async () => {
    const running = loadConfig(file, { env: {} });
    writeFileSync(file, renamed);
    watcher = new ConfigWatcher({
      file,
      env: {},
      running,
      onChange: (change) => changes.push(change),
      onRefused: (error) => refusals.push(error),
    });
    await eventually(() => expect(upstreamModels()).toEqual(["echo-2"]));
  });

  it("refuses a bad file whole, and takes the next good one", async () => {
    start();
    writeFileSync(file, bad.replace("10.00", "11.00"));
    await eventually(() => expect(refusals).toHaveLength(1));
    expect([refusals[0]?.problems[0]?.path, changes]).toEqual(["catalog[0].upstrem_model", []]);
    writeFileSync(file, good);
    await eventually(() => expect(upstreamModels()).toEqual(["echo"]));
  });

  it("refuses a file that is gone, once", async () => {
    start(10);
    rmSync(file);
    await eventually(() => expect(refusals).toHaveLength(1));
    writeFileSync(file, renamed);
    await eventually(() => expect(changes).toHaveLength(1));
    expect(refusals).toHaveLength(1);
  });

  it("refuses models of an upstream that is not running, and says what that needs", () => {
    start();
    const more = good
      .replace("catalog:", '  - {name: other, url: "http://127.0.0.1:9000"}\ncatalog:')
      .replace("upstream: local", "upstream: other");
    writeFileSync(file, more);
    expect(watcher.reload()).toBe(false);
    expect(refusals[0]?.problems).toEqual([
      {
        path: "catalog[0].upstream",
        message:
          "the upstream `other` is not in the running configuration: a new upstream needs a new Envoy configuration and a restart",
      },
    ]);
  });

  it("takes the catalog of a file whose other changes need a restart, names those, and keeps what is running", () => {
    start();
    writeFileSync(file, `${renamed.replace("8000", "8001")}limits: {max_body_bytes: 2048}\n`);
    expect(watcher.reload()).toBe(true);
    const [change] = changes;
    expect(change?.needsRestart).toEqual(["upstreams[0].endpoints[0].port", "limits.max_body_bytes"]);
    expect(change?.config.limits.maxBodyBytes).toBe(33_554_432);
    expect(change?.config.upstreams[0]?.endpoints[0]?.port).toBe(8000);
    expect(change?.config.catalog[0]?.upstreamModel).toBe("echo-2");
  });

  it("reports on demand even when nothing has changed", () => {
    start();
    expect([watcher.reload(), watcher.reload()]).toEqual([true, true]);
    expect(upstreamModels()).toEqual(["echo", "echo"]);
  });

  it("does not report a change of nothing but comments", async () => {
    start(10);
    writeFileSync(file, `# comment\n${good}`);
    writeFileSync(join(folder, "other-file"), "");
    writeFileSync(file, `# other comment\n${renamed}`);
    await eventually(() => expect(changes).toHaveLength(1));
    writeFileSync(file, renamed);
    writeFileSync(file, renamed.replace("echo-2", "echo-3"));
    await eventually(() => expect(upstreamModels()).toEqual(["echo-2", "echo-3"]));
  });
});
