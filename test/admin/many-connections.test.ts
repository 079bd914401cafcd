/** Whoever opens connections and says nothing keeps neither probes nor other addresses out. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Agent, request } from "node:http";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type HealthServer, startHealthServer } from "../../src/management/admin/health-server.ts";
import { send } from "../support/http.ts";
import { waitFor, withTimeout } from "../support/wait.ts";
import { type AdminUnderTest, startAdmin } from "./admin-fixture.ts";

const PROBES = 50;

let admin: AdminUnderTest;
let health: HealthServer;
const opened: Socket[] = [];
beforeAll(async () => {
  admin = await startAdmin();
  health = await startHealthServer({ host: "127.0.0.1", port: 0, isReady: () => Promise.resolve(false) });
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});
afterAll(() => Promise.all([admin.stop(), health.close()]));

async function openSilent(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  opened.push(...sockets);
  for (const socket of sockets) socket.on("error", () => {}).resume();
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}

async function probe(port: number, path = "/healthz"): Promise<number> {
  return (await send(`http://127.0.0.1:${port}`, { path, timeoutMs: 5_000 })).status;
}

it("the health port answers every probe while 1,050 connections to it stay silent", async () => {
  await openSilent(health.port, 1_050);
  const statuses: number[] = [];
  for (let asked = 0; asked < PROBES; asked += 1) statuses.push(await probe(health.port));
  expect(statuses).toEqual(Array.from({ length: PROBES }, () => 200));
});

it("the health port says whether requests would be served, and nothing else", async () => {
  expect(await probe(health.port, "/readyz")).toBe(503);
  expect(await probe(health.port, "/api/organizations")).toBe(404);
});

it("one address has half of the admin server's connections at most", async () => {
  const port = Number(new URL(admin.url).port);
  const sockets = await openSilent(port, 1_050);
  await waitFor("the rest to be closed", () => sockets.filter(({ closed }) => !closed).length <= 500);
  const agent = new Agent({ localAddress: "127.0.0.2" });
  const asked = request({ host: "127.0.0.1", port, path: "/healthz", agent });
  asked.end();
  const [response] = (await withTimeout("an answer to another address", once(asked, "response"))) as [
    { statusCode: number; resume(): void },
  ];
  response.resume();
  expect(response.statusCode).toBe(200);
});

it("a connection to the admin server that asks nothing is closed", async () => {
  const port = Number(new URL(admin.url).port);
  const [socket] = await openSilent(port, 1);
  expect(socket).toBeDefined();
  if (socket !== undefined && !socket.closed) await withTimeout("its end", once(socket, "close"));
  expect(socket?.closed).toBe(true);
});
