/** A redis-server that takes TLS only, and only from clients with a certificate of its authorities. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { type Child, startChild } from "./child.ts";
import { findFreePort } from "./free-port.ts";
import { findRedisServer } from "./redis.ts";
import type { KeyPair, TestAuthority } from "./tls.ts";
import { waitFor } from "./wait.ts";

export interface TlsRedis {
  /** `rediss://localhost:…` */
  readonly url: string;
  readonly port: number;
  /** Ends it and starts it again with its data, as a server of another authority that trusts only that one. */
  restartAs(authority: TestAuthority): Promise<void>;
  stop(): Promise<void>;
}

export async function startTlsRedis(authority: TestAuthority): Promise<TlsRedis> {
  const dir = await mkdtemp(join(tmpdir(), "igw-rtls-"));
  await mkdir(join(dir, "data"));
  const port = await findFreePort();
  let child = await start(dir, port, authority);
  return {
    url: `rediss://localhost:${port}`,
    port,
    async restartAs(next) {
      await child.stop(10_000);
      child = await start(dir, port, next);
    },
    async stop() {
      await child.stop(10_000);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function start(dir: string, port: number, authority: TestAuthority): Promise<Child> {
  const server = await authority.issue("redis", ["localhost"]);
  await writeFile(join(dir, "ca.pem"), authority.ca);
  await writeFile(join(dir, "server.crt"), server.cert);
  await writeFile(join(dir, "server.key"), server.key, { mode: 0o600 });
  const settings = {
    port: 0,
    "tls-port": port,
    bind: "127.0.0.1",
    "tls-auth-clients": "yes",
    "tls-cert-file": join(dir, "server.crt"),
    "tls-key-file": join(dir, "server.key"),
    "tls-ca-cert-file": join(dir, "ca.pem"),
    dir: join(dir, "data"),
    appendonly: "yes",
    appendfsync: "always",
    save: "",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = startChild(findRedisServer(), args, { cwd: dir });
  const client = await authority.issue("probe", ["probe"]);
  await waitFor("Redis over TLS", async () => {
    if (child.ended !== null) throw new Error(`redis-server ended: ${child.stdoutLines.join("\n")}`);
    return (await pingRedis(port, authority.ca, client)) === "+PONG";
  });
  return child;
}

/** What Redis answers to PING over TLS, or why it does not. */
export function pingRedis(port: number, ca: string, client: Partial<KeyPair>): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "localhost", port, ca, ...client, timeout: 2_000 }, () => {
      socket.write("PING\r\n");
    });
    const settle = (answer: string): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", (data: Buffer) => settle(data.toString().trim()));
    socket.once("timeout", () => settle("timeout"));
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    socket.once("close", () => settle("closed"));
  });
}
