import { Cluster } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import { parseMemory } from "../../src/data-path/store/memory.ts";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import { shareOf } from "../../src/shared/stored/memory.ts";
import { USAGE_MONTHS, withTestStore } from "./fixture.ts";

const GIBIBYTE = 1024 ** 3;
const test = withTestStore();
const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends) end();
});

function listServers() {
  return test.client instanceof Cluster ? test.client.nodes("master") : [test.client];
}

describe("the memory of Redis", () => {
  it("is measured against its bound, in a cluster on the primary with the least room", async () => {
    const servers = listServers();
    for (const [index, server] of servers.entries()) {
      await server.config("SET", "maxmemory", String((servers.length - index) * GIBIBYTE));
    }
    const use = await test.store.readMemory();
    expect(use).toEqual({ usedBytes: expect.any(Number) as number, maxBytes: GIBIBYTE });
    expect(shareOf({ usedBytes: 3, maxBytes: 4 })).toBe(0.75);
    expect(use?.usedBytes).toBeGreaterThan(100_000);
    for (const server of servers) await server.config("SET", "maxmemory", "0");
  });

  it("is that of its host without a bound, and unknown to a server that reports neither", async () => {
    expect((await test.store.readMemory())?.maxBytes).toBeGreaterThan(GIBIBYTE);
    expect(parseMemory("# Memory\r\nused_memory:1000\r\n")).toBeNull();
  });

  it("is unknown to a user without the right to ask", async () => {
    for (const server of listServers()) {
      await server.call(
        "ACL",
        "SETUSER",
        "no-info",
        "reset",
        "on",
        ">of-a-test",
        "~igw:*",
        "&*",
        "+@all",
        "-info",
      );
    }
    const client = createRedisClient({
      ...test.address,
      username: "no-info",
      password: "of-a-test",
      commandTimeoutMs: 20_000,
      onError: () => undefined,
    });
    ends.push(() => client.disconnect());
    await waitUntilReady(client, 10_000).catch(() => undefined);
    const store = createStore({ client, usageMonths: USAGE_MONTHS });
    expect(await store.readMemory()).toBeNull();
  });
});
