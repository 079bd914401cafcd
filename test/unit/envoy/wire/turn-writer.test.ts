import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { TurnWriter } from "../../../../src/envoy/transport/wire/turn-writer.ts";

const server = createServer((peer) => void peer.resume());
let socket: Socket;

beforeEach(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
});

afterEach(() => {
  socket.destroy();
  server.close();
});

it("sends small messages at the end of the turn", async () => {
  const writer = new TurnWriter(socket);
  for (let message = 0; message < 10; message += 1) {
    writer.write(Buffer.alloc(1_000));
    writer.flushIfLarge();
  }
  expect(socket.bytesWritten).toBe(0);
  await new Promise(setImmediate);
  expect(socket.bytesWritten).toBe(10_000);
});

it("sends large messages, and what was written before them, before the turn ends", async () => {
  const writer = new TurnWriter(socket);
  writer.write(Buffer.alloc(1_000));
  writer.write(Buffer.alloc(100_000));
  writer.flushIfLarge();
  expect(socket.bytesWritten).toBe(101_000);
  expect(writer.unsentBytes).toBe(socket.writableLength);
  writer.write(Buffer.alloc(500));
  writer.flushIfLarge();
  expect(socket.bytesWritten).toBe(101_000);
  await new Promise(setImmediate);
  expect(socket.bytesWritten).toBe(101_500);
});
