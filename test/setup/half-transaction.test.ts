/** A Redis that died while it wrote what a script had done: at the next start, and the one after it, none of the script is there. */
import { existsSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { cutHalfTransaction } from "../../src/operation/launcher/half-transaction.ts";
import { startPrivateRedis, waitForRedis } from "../../src/operation/launcher/private-redis.ts";
import { createTestFolder } from "./support/stand-in-stack.ts";

const PROGRAM = process.env["REDIS_SERVER_BIN"] ?? "redis-server";
const CHARGE =
  "redis.call('HINCRBY', 'spend', 'key', 7) redis.call('HINCRBY', 'spend', 'organization', 7) redis.call('HSET', 'request', 'state', 'closed')";

interface Run {
  readonly client: Redis;
  kill(): Promise<void>;
}

async function start(dataDir: string): Promise<Run> {
  const socket = join(dataDir, "redis.sock");
  const options = {
    program: PROGRAM,
    socket,
    dataDir,
    logPath: join(dataDir, "redis.log"),
    env: process.env,
  };
  const redis = await startPrivateRedis(options);
  await waitForRedis(redis, socket);
  const client = new Redis({ path: socket, protocol: 2, retryStrategy: () => null });
  client.on("error", () => undefined);
  // Else what is written while a sync is under way is kept in memory, and dies with it.
  await client.config("SET", "appendfsync", "always");
  const kill = async (): Promise<void> => {
    client.disconnect();
    redis.child.kill("SIGKILL");
    await redis.ended;
  };
  onTestFinished(() => kill());
  return { client, kill };
}

/** Of the append-only file that is written on in. */
function lastFile(dataDir: string): string {
  const folder = join(dataDir, "redis/appendonlydir");
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".incr.aof")) ?? "");
}

describe("a Redis that died in the middle of a write", () => {
  it.each([
    { where: "within its last command", bytes: 30 },
    { where: "within one before", bytes: 90 },
    { where: "before its end", bytes: "*1\r\n$4\r\nEXEC\r\n".length },
  ])("has nothing of a script that is cut $where, at any later start", async ({ bytes }) => {
    const dataDir = createTestFolder();
    mkdirSync(dataDir, { recursive: true });
    const first = await start(dataDir);
    await first.client.set("before", "1");
    await first.client.eval(CHARGE, 0);
    await first.kill();
    truncateSync(lastFile(dataDir), statSync(lastFile(dataDir)).size - bytes);
    const second = await start(dataDir);
    expect(await second.client.keys("*")).toEqual(["before"]);
    await second.client.eval("redis.call('SET', 'one', '1') redis.call('SET', 'two', '2')", 0);
    await second.kill();
    const third = await start(dataDir);
    expect((await third.client.keys("*")).toSorted()).toEqual(["before", "one", "two"]);
  });

  it("keeps all of a file that is whole", async () => {
    const dataDir = createTestFolder();
    const first = await start(dataDir);
    await first.client.eval(CHARGE, 0);
    await first.kill();
    const { size } = statSync(lastFile(dataDir));
    // Nor is it read for that: this program would leave a file.
    const [program, called] = [join(dataDir, "check.sh"), join(dataDir, "called")];
    writeFileSync(program, `#!/bin/sh\n: > ${called}\n`, { mode: 0o755 });
    expect(await cutHalfTransaction(program, join(dataDir, "redis/appendonlydir"))).toBe(0);
    expect(existsSync(called)).toBe(false);
    const second = await start(dataDir);
    expect(await second.client.hgetall("spend")).toEqual({ key: "7", organization: "7" });
    expect(statSync(lastFile(dataDir)).size).toBe(size);
  });
});
