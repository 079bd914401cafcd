import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { startRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";

/** A line to Redis that can fall silent: connections stay open, and nothing comes through any more. */
async function startLine(socketPath: string) {
  const pairs: [Socket, Socket][] = [];
  const server = createServer((near) => {
    const far = connect(socketPath);
    pairs.push([near, far]);
    near.on("error", () => undefined).pipe(far);
    far.on("error", () => undefined).pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence(): void {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.resume();
        far.resume();
      }
    },
    close(): void {
      server.close();
      for (const socket of pairs.flat()) socket.destroy();
    },
  };
}

describe("a connection whose other end is gone without a word", () => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it("fails each command after 250 ms and is replaced after five seconds", async () => {
    const line = await startLine(new URL(redis.url).pathname);
    const client = createRedisClient({ url: line.url, onError: () => undefined });
    try {
      await waitUntilReady(client, 10_000);
      expect(await client.ping()).toBe("PONG");
      line.silence();
      await expect(client.ping()).rejects.toThrow("timed out");
      await waitFor("another connection", async () => (await client.ping()) === "PONG", {
        timeoutMs: 15_000,
      });
    } finally {
      client.disconnect();
      line.close();
    }
  });
});
