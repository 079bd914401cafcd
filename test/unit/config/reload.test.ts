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

import type { ConfigError } from "../../../src/shared/config/config-error.ts";
import { loadConfig } from "../../../src/shared/config/load.ts";
import { ConfigReloader } from "../../../src/shared/config/reload.ts";
import { fingerprint } from "../../../src/shared/config/reload/watch-files.ts";
import type { ConfigState } from "../../../src/shared/config/reload/config-state.ts";
import type { Config } from "../../../src/shared/config/schema.ts";

const good = readFileSync(new URL("../../fixtures/config/good.yaml", import.meta.url), "utf8");
const renamed = good.replace("upstream_model: echo", "upstream_model: echo-2");
const bad = good.replace("upstream_model", "upstrem_model");

let folder: string;
let file: string;
let reloader: ConfigReloader;
let changes: { readonly catalog: Config["catalog"]; readonly state: ConfigState }[];
let refusals: ConfigError[];

const load = () => loadConfig(file, { env: {} });

function start(runningFingerprint = fingerprint([file]), running: Config = load(), read = load): void {
  reloader = new ConfigReloader({
    file,
    load: read,
    running,
    runningFingerprint,
    nowMs: () => Date.UTC(2026, 10, 22),
    pollMs: 10,
    onAccepted: (catalog, state) => changes.push({ catalog, state }),
    onRefused: (error) => refusals.push(error),
  });
  reloader.start();
}

/** Long, because it only ends a test that fails. */
const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 10 });
const upstreamModels = () => changes.map(({ catalog }) => catalog[0]?.upstreamModel);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "watch-"));
  file = join(folder, "gateway.yaml");
  writeFileSync(file, good);
  changes = [];
  refusals = [];
});

afterEach(() => {
  reloader.close();
  rmSync(folder, { recursive: true });
});

describe("ConfigReloader", () => {
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

  it("sees a change of a file that is a link to another folder", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "elsewhere-"));
    try {
      writeFileSync(join(elsewhere, "gateway.yaml"), good);
      rmSync(file);
      symlinkSync(join(elsewhere, "gateway.yaml"), file);
      start();
      writeFileSync(join(elsewhere, "gateway.yaml"), renamed);
      await eventually(() => expect(upstreamModels()).toEqual(["echo-2"]));
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it("sees what changed between the start of the process and the watch", () => {
    const [before, running] = [fingerprint([file]), load()];
    writeFileSync(file, renamed);
    start(before, running);
    expect(upstreamModels()).toEqual(["echo-2"]);
  });

  it("does not read a file again that is as it was when the process started", () => {
    const read = vi.fn<typeof load>(load);
    start(fingerprint([file]), load(), read);
    expect(read).not.toHaveBeenCalled();
    reloader.reload();
    expect(read).toHaveBeenCalledOnce();
  });

  it("refuses a bad file whole, and takes the next good one", async () => {
    start();
    writeFileSync(file, bad.replace("10.00", "11.00"));
    await eventually(() => expect(refusals).toHaveLength(1));
    expect([refusals[0]?.problems[0]?.path, changes]).toEqual(["catalog[0].upstrem_model", []]);
    writeFileSync(file, good);
    await eventually(() => expect(upstreamModels()).toEqual(["echo"]));
  });

  it("says since when and why a file is refused, and no longer once it was mended", () => {
    start();
    writeFileSync(file, bad.replace("10.00", "eleven"));
    reloader.reload();
    expect(reloader.state.refused).toEqual({
      since: "2026-11-22T00:00:00.000Z",
      problems: refusals.at(-1)?.problems,
    });
    expect(reloader.state.refused?.problems).toHaveLength(2);
    writeFileSync(file, good);
    reloader.reload();
    expect(reloader.state.refused).toBeNull();
  });

  it("goes on where the file is away for a moment, and refuses one that is gone when it is asked", async () => {
    start();
    rmSync(file);
    reloader.reload();
    expect(refusals.map(({ message }) => message)).toEqual([expect.stringContaining("does not exist")]);
    writeFileSync(file, renamed);
    await eventually(() => expect(upstreamModels()).toEqual(["echo-2"]));
  });

  it("refuses models of an upstream that is not running, and says what that needs", () => {
    start();
    const more = good
      .replace("catalog:", '  - {name: other, url: "http://127.0.0.1:9000"}\ncatalog:')
      .replace("upstream: local", "upstream: other");
    writeFileSync(file, more);
    reloader.reload();
    expect(changes).toEqual([]);
    expect(reloader.state.waitingForRestart).toEqual(["upstreams.other"]);
    expect(refusals[0]?.problems).toEqual([
      {
        path: "catalog[0].upstream",
        message:
          "the upstream `other` is not in the running configuration: a new upstream needs a new Envoy configuration and a restart",
      },
    ]);
  });

  it("takes the catalog of a file whose other changes need a restart, and names those", () => {
    start();
    writeFileSync(file, `${renamed.replace("8000", "8001")}limits: {max_body_bytes: 2048}\n`);
    reloader.reload();
    expect(upstreamModels()).toEqual(["echo-2"]);
    expect(changes[0]?.state.waitingForRestart).toEqual(["upstreams.local.url", "limits.max_body_bytes"]);
  });

  it("reports on demand even when nothing has changed", () => {
    start();
    reloader.reload();
    reloader.reload();
    expect(upstreamModels()).toEqual(["echo", "echo"]);
  });

  it("does not report a change of nothing but comments", async () => {
    start();
    writeFileSync(file, `# comment\n${good}`);
    writeFileSync(join(folder, "other-file"), "");
    writeFileSync(file, `# other comment\n${renamed}`);
    await eventually(() => expect(changes).toHaveLength(1));
    writeFileSync(file, renamed);
    writeFileSync(file, renamed.replace("echo-2", "echo-3"));
    await eventually(() => expect(upstreamModels()).toEqual(["echo-2", "echo-3"]));
  });
});
