/** `up` while Redis keeps it waiting: the person in front of it is told, once. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { findOnPath } from "../../src/operation/setup/find-executable.ts";
import { type Child, startChild } from "../support/child.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";
import {
  createTestFolder,
  endWithTest,
  stackIn,
  waitForReadyLine,
  writeProgram,
  writeTestConfig,
} from "./support/stand-in-stack.ts";

const START = fileURLToPath(new URL("../../src/operation/setup/start.js", import.meta.url));
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const PASSWORD = "correct-horse-battery";

let redis: PrivateRedis | null = null;
afterEach(async () => {
  await redis?.stop();
  redis = null;
});

function startUp(configFile: string, env: Record<string, string>): Child {
  const program = process.env["IGW_SKIP_BUILD"] ? [MAIN, "up"] : [START];
  const args = [...program, "--config", configFile, "--json"];
  const child = startChild(process.execPath, args, {
    cwd: dirname(configFile),
    env: { ...process.env, ...env },
  });
  endWithTest(child);
  return child;
}

const countTold = ({ stderr }: Child) => stderr.match(/waiting for Redis/gu)?.length ?? 0;

describe("up that waits for Redis", () => {
  it("says so once, with the address and without the password, and starts when it is there", async () => {
    redis = await startRedis();
    redis.kill();
    const folder = createTestFolder();
    const configFile = await writeTestConfig(folder, {
      sidecar: { workers: 1 },
      redis: { url: redis.url, password: { env: "TEST_REDIS_PASSWORD" } },
    });
    const child = startUp(configFile, { TEST_REDIS_PASSWORD: PASSWORD });
    await waitFor("to be told", () => countTold(child) > 0, { timeoutMs: 60_000 });
    expect(child.stderr).toContain(`waiting for Redis at ${redis.url} …\n`);
    await redis.restart();
    await waitForReadyLine(stackIn(folder, child));
    expect(countTold(child)).toBe(1);
    expect(child.stderr).not.toContain(PASSWORD);
  });

  it("says so of the private one that takes long to come up", async () => {
    const folder = createTestFolder();
    const configFile = await writeTestConfig(folder, { sidecar: { workers: 1 } });
    const server = process.env["REDIS_SERVER_BIN"] || findOnPath("redis-server", process.env) || "";
    const slow = writeProgram(
      join(folder, "slow-redis"),
      `[ "$1" = --version ] || sleep 3\nexec '${server}' "$@"`,
    );
    const child = startUp(configFile, { REDIS_SERVER_BIN: slow });
    await waitForReadyLine(stackIn(folder, child));
    expect(child.stderr).toContain(`waiting for Redis at unix://${folder}/run/redis.sock …\n`);
    expect(countTold(child)).toBe(1);
  });
});
