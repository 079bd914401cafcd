/**
 * Several servers of one upstream, on the bootstrap that is shipped: shares, priorities, health, and the one second try
 * that there is, when nothing of a request has been sent.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startEdge, UpstreamStandIn } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { waitFor } from "./edge/envoy-process.ts";
import { send } from "./edge/raw-client.ts";
import { passOn, route } from "./edge/sidecar-stand-in.ts";

const CHAT = "/v1/chat/completions";
const AUTHORIZED = { authorization: "Bearer good" };
/** Discard: never listened on here. */
const REFUSING = "http://127.0.0.1:9";

/** Takes connections, reads so many bytes of each and resets it. */
class DyingServer {
  bytesBeforeDeath = 0;
  received = 0;
  connections = 0;
  readonly #server: Server = createServer((socket) => this.#serve(socket));

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    let left = this.bytesBeforeDeath;
    socket.on("error", () => undefined);
    if (left === 0) return void socket.resetAndDestroy();
    socket.on("data", (bytes: Buffer) => {
      this.received += bytes.length;
      left -= bytes.length;
      if (left <= 0) socket.resetAndDestroy();
    });
  }
}

const dying = new DyingServer();
const backup = new UpstreamStandIn();
const light = new UpstreamStandIn();
let edge: Edge;

beforeAll(async () => {
  const dyingUrl = await dying.start();
  const backupUrl = `http://127.0.0.1:${await backup.start()}`;
  const lightUrl = `http://127.0.0.1:${await light.start()}`;
  const main = "http://127.0.0.1:UPSTREAM_PORT";
  edge = await startEdge({
    upstreams: [
      `{name: half-dead, urls: ["${REFUSING}", "${main}"]}`,
      `{name: primary-dead, endpoints: [{url: "${REFUSING}"}, {url: "${main}", priority: 1}]}`,
      `{name: told, endpoints: [{url: "${REFUSING}"}, {url: "${main}", priority: 1}]}`,
      `{name: last-left, urls: ["${REFUSING}", "http://127.0.0.2:9", "${main}"]}`,
      `{name: dying, endpoints: [{url: "${dyingUrl}"}, {url: "${backupUrl}", priority: 1}]}`,
      `{name: weighted, endpoints: [{url: "${main}", weight: 9}, {url: "${lightUrl}"}], slow_start_seconds: 1}`,
      `{name: checked, endpoints: [{url: "${backupUrl}"}, {url: "${lightUrl}", priority: 1}], health_check: {path: /health, interval_seconds: 1}}`,
      `{name: dead, urls: ["${REFUSING}", "http://127.0.0.2:9"]}`,
    ],
  });
}, 60_000);
beforeEach(() => {
  edge.sidecar.reset();
  edge.upstream.reset();
  backup.reset();
  light.reset();
});
afterAll(async () => {
  await edge.stop();
  dying.stop();
  backup.stop();
  light.stop();
});

async function ask(upstream: string, body = "{}"): Promise<number> {
  edge.sidecar.onProcess = (message) =>
    message.request_body ? route(message, upstream, CHAT) : passOn(message);
  return (await send(edge.port, "POST", CHAT, AUTHORIZED, body)).status;
}

/** How many requests have come to a server, its health checks left out. */
function countAt(server: UpstreamStandIn): number {
  return server.requests.filter(({ path }) => path === CHAT).length;
}

/** Lines of the access log of requests to one upstream, once there are so many. */
async function logged(upstream: string, count: number): Promise<Record<string, unknown>[]> {
  const lines = () => edge.accessLog().filter((line) => line["upstream"] === upstream);
  await waitFor(`${count} lines of ${upstream}`, async () => lines().length >= count);
  return lines();
}

describe("a request whose connection could not be made", () => {
  it.each(["half-dead", "primary-dead"])("is answered by another server of %s", async (upstream) => {
    for (let sent = 0; sent < 20; sent += 1) expect(await ask(upstream)).toBe(200);
    expect(edge.upstream.requests).toHaveLength(20);
    const attempts = (await logged(upstream, 20)).map((line) => line["attempts"]);
    expect(attempts).toContain(2);
    expect(attempts.every((count) => count === 1 || count === 2)).toBe(true);
  });

  it("is tried twice and no more, and then is a 503", async () => {
    expect(await ask("dead")).toBe(503);
    expect(await logged("dead", 1)).toMatchObject([{ attempts: 2, upstream_bytes_sent: 0, status: 503 }]);
  });

  it("is tried once where there is one server", async () => {
    expect(await ask("refusing")).toBe(503);
    expect(await logged("refusing", 1)).toMatchObject([{ attempts: 1, upstream_bytes_sent: 0, status: 503 }]);
  });

  it("tells the sidecar how often it was tried", async () => {
    const attempts: unknown[] = [];
    edge.sidecar.onProcess = (message) => {
      const attributes = JSON.stringify(message.attributes ?? {});
      const count = /request_attempt_count":\{"numberValue":(\d)/.exec(attributes)?.[1];
      if (count !== undefined) attempts.push(count);
      return message.request_body ? route(message, "told", CHAT) : passOn(message);
    };
    for (let sent = 0; sent < 3; sent += 1) await send(edge.port, "POST", CHAT, AUTHORIZED, "{}");
    expect(attempts).toEqual(["2", "2", "2"]);
  });

  it("finds the last server that is left, once the dead ones are known", async () => {
    const allAnswered = async (): Promise<boolean> => {
      const statuses = [];
      for (let sent = 0; sent < 10; sent += 1) statuses.push(await ask("last-left"));
      return statuses.every((status) => status === 200);
    };
    await waitFor("the dead ones are left out", allAnswered);
    expect(await allAnswered()).toBe(true);
  });
});

describe("a request of which something was sent", () => {
  const body = JSON.stringify({ text: "x".repeat(400_000) });

  it.each([1, 100, 1_000, 200_000])(
    "is never sent again when its server dies after %i bytes",
    async (bytes) => {
      dying.bytesBeforeDeath = bytes;
      dying.received = 0;
      dying.connections = 0;
      const before = (await logged("dying", 0)).length;
      expect(await ask("dying", body)).toBe(502);
      expect(dying.received).toBeGreaterThanOrEqual(bytes);
      expect(dying.connections).toBe(1);
      expect(countAt(backup)).toBe(0);
      expect((await logged("dying", before + 1)).at(-1)).toMatchObject({ attempts: 1 });
    },
  );

  it("is not sent again either when its server dies at once: Envoy has written by then", async () => {
    dying.bytesBeforeDeath = 0;
    const before = (await logged("dying", 0)).length;
    for (let sent = 0; sent < 30; sent += 1) await ask("dying", body);
    const lines = (await logged("dying", before + 30)).slice(before);
    const sentTwice = lines.filter((line) => line["attempts"] !== 1 && line["upstream_bytes_sent"] !== 0);
    expect(sentTwice.filter((line) => line["status"] !== 200)).toEqual([]);
    expect(countAt(backup)).toBe(lines.filter((line) => line["status"] === 200).length);
  });
});

describe("endpoints", () => {
  it("share requests by their weights", async () => {
    for (let sent = 0; sent < 100; sent += 1) expect(await ask("weighted")).toBe(200);
    const heavy = edge.upstream.requests.length;
    const few = countAt(light);
    expect(heavy + few).toBe(100);
    expect(few).toBeGreaterThan(0);
    expect(heavy).toBeGreaterThan(3 * few);
  });

  it("of a lower priority get requests while the others fail their health check, and no longer", async () => {
    const answersTo = async (server: UpstreamStandIn): Promise<boolean> => {
      const before = countAt(server);
      await ask("checked");
      return countAt(server) > before;
    };
    expect(await answersTo(backup)).toBe(true);
    backup.onRequest = (_request, response) => void response.writeHead(500).end();
    await waitFor("the second priority", async () => answersTo(light));
    expect(
      backup.requests.some(({ path, headers }) => path === "/health" && headers.authorization === undefined),
    ).toBe(true);
    backup.reset();
    await waitFor("the first priority", async () => answersTo(backup));
  });
});
