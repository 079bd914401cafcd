/** Stands between the gateway and a real Redis: makes its answers late, arrive together, or other than they are. */
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface RedisProxy {
  /** `redis://127.0.0.1:…` */
  readonly url: string;
  /** Each answer is held back for so long. */
  delayMs: number;
  /** What becomes of a piece of an answer; of the same length, since answers carry theirs. */
  rewrite: ((answer: Buffer) => Buffer) | null;
  /** Keeps every answer from now on until one of a connection has this text in it, and hands on all of that in one piece. */
  holdUntil(text: string): void;
  close(): Promise<void>;
}

/** @param target `unix:///…/redis.sock` */
export async function startRedisProxy(target: string): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  let awaited: string | null = null;
  const server = createServer((client) => {
    const redis = connect({ path: new URL(target).pathname });
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(redis);
    let held = Buffer.alloc(0);
    redis.on("data", (piece: Buffer) => {
      held = Buffer.concat([held, piece]);
      if (awaited !== null && !held.includes(awaited)) return;
      awaited = null;
      const answer = proxy.rewrite?.(held) ?? held;
      held = Buffer.alloc(0);
      if (proxy.delayMs === 0) client.write(answer);
      // Timers of the same length run in the order in which they were set.
      else setTimeout(() => client.destroyed || client.write(answer), proxy.delayMs);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: RedisProxy = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delayMs: 0,
    rewrite: null,
    holdUntil: (text) => {
      awaited = text;
    },
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return proxy;
}
