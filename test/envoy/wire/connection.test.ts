/** What a connection of the transport `wire` does with frames: in pieces, interleaved, in the wrong place, too many. */
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { HEALTH_WATCH, PROCESS } from "../../../src/envoy/messages/codec.ts";
import {
  ERROR,
  FLAG,
  formatFrame,
  formatReset,
  formatSettings,
  formatWindowUpdate,
  FRAME,
  SETTING,
} from "../../../src/envoy/transport/wire/frames.ts";
import { waitFor } from "../../support/wait.ts";
import { formatCall, formatGreeting, formatMessage, WireClient } from "../../support/wire-client.ts";
import { MAX_MESSAGE_BYTES, startWireServer, type WireServer } from "./wire-server.ts";

const EMPTY = Buffer.alloc(0);

let wire: WireServer;
const clients: WireClient[] = [];

beforeEach(async () => {
  wire = await startWireServer();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await wire.stop();
});

async function open(settings?: Parameters<typeof formatGreeting>[0]): Promise<WireClient> {
  const client = await WireClient.open(wire.socketPath);
  clients.push(client);
  await client.write(formatGreeting(settings));
  return client;
}

const encodeBody = (body: Buffer | string) =>
  PROCESS.encodeRequest({ request_body: { body: Buffer.from(body) } });
const readBodies = (client: WireClient, streamId: number) =>
  client
    .messages(streamId)
    .map((bytes) => PROCESS.decodeResponse(bytes).request_body?.response?.body_mutation?.body?.toString());

describe("frames", () => {
  it("mean the same in whatever pieces they come", async () => {
    const bytes = Buffer.concat([
      formatGreeting(),
      formatCall(1, PROCESS.path),
      formatCall(3, PROCESS.path),
      formatMessage(1, encodeBody("one")),
      formatMessage(3, encodeBody("two"), FLAG.endStream),
      formatFrame(FRAME.ping, 0, 0, Buffer.alloc(8)),
      formatMessage(1, encodeBody("three"), FLAG.endStream),
    ]);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 });
    const eachByte = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    const send = async (places: readonly number[]) => {
      const client = await WireClient.open(wire.socketPath);
      let start = 0;
      for (const end of [...places.toSorted((a, b) => a - b), bytes.length]) {
        await client.write(bytes.subarray(start, end));
        start = end;
      }
      expect(await client.waitForStatus(1)).toBe("0");
      expect(await client.waitForStatus(3)).toBe("0");
      expect(readBodies(client, 1)).toEqual(["one", "three"]);
      expect(readBodies(client, 3)).toEqual(["two"]);
      client.close();
    };
    await fc.assert(fc.asyncProperty(cuts, send), { numRuns: 50, examples: [[eachByte]] });
  });

  it("of many calls may be interleaved", async () => {
    const plan = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.string({ maxLength: 300 })), {
      maxLength: 60,
    });
    const send = async (parts: readonly (readonly [number, string])[]) => {
      const client = await open();
      const first = wire.bodies.length;
      await client.write(
        ...Array.from({ length: 10 }, (_, call) => formatCall(2 * call + 1, PROCESS.path)),
        ...parts.map(([call, text]) => formatMessage(2 * call + 1, encodeBody(text))),
        ...Array.from({ length: 10 }, (_, call) =>
          formatFrame(FRAME.data, FLAG.endStream, 2 * call + 1, EMPTY),
        ),
      );
      for (let call = 0; call < 10; call += 1) {
        expect(await client.waitForStatus(2 * call + 1)).toBe("0");
        const texts = parts.filter(([of]) => of === call).map(([, text]) => text);
        expect(wire.bodies[first + call]).toEqual(texts);
        expect(readBodies(client, 2 * call + 1).map((text) => text ?? "")).toEqual(texts);
      }
      client.close();
    };
    await fc.assert(fc.asyncProperty(plan, send), { numRuns: 20 });
  });

  it("of any kind, in any order, leave the server whole", async () => {
    const frame = fc
      .tuple(fc.nat({ max: 11 }), fc.nat({ max: 255 }), fc.nat({ max: 9 }), fc.uint8Array({ maxLength: 40 }))
      .map(([type, flags, id, payload]) => formatFrame(type, flags, id, payload));
    const call = fc.nat({ max: 4 }).map((id) => formatCall(2 * id + 1, PROCESS.path));
    const body = fc.nat({ max: 9 }).map((id) => formatMessage(id, encodeBody("x")));
    const send = async (parts: readonly Buffer[]) => {
      const client = await open();
      await client.write(...parts, formatFrame(FRAME.ping, 0, 0, Buffer.alloc(8)));
      await waitFor("an answer or an end", () => client.find(FRAME.ping) !== undefined || client.isClosed);
      client.close();
    };
    const parts = fc.array(fc.oneof(frame, call, body), { maxLength: 30 });
    await fc.assert(fc.asyncProperty(parts, send), { numRuns: 150 });
    await waitFor("no open call", () => wire.server.openStreams === 0);
    expect(wire.ended.count).toBe(wire.calls.length);
    const client = await open();
    await client.write(
      formatCall(1, PROCESS.path),
      formatMessage(1, encodeBody("still here"), FLAG.endStream),
    );
    expect(await client.waitForStatus(1)).toBe("0");
  });

  it("that are not HTTP/2 end the connection", async () => {
    const client = await WireClient.open(wire.socketPath);
    await client.write(Buffer.from("GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
    expect(await client.waitForGoaway()).toBe(ERROR.protocolError);
    await waitFor("the end of the connection", () => client.isClosed);
  });
});

describe("flow control", () => {
  it("sends what the windows allow, and the rest when they open", async () => {
    const client = await open([[SETTING.initialWindowSize, 10]]);
    await client.write(
      formatCall(1, PROCESS.path),
      formatMessage(1, encodeBody("x".repeat(1_000)), FLAG.endStream),
    );
    const sent = () =>
      client.frames.filter(({ type }) => type === FRAME.data).map(({ payload }) => payload.length);
    await waitFor("the first bytes", () => sent().length > 0);
    await client.write(formatWindowUpdate(1, 5));
    await waitFor("five more", () => sent().length === 2);
    expect(sent()).toEqual([10, 5]);
    await client.write(formatSettings([[SETTING.initialWindowSize, 100_000]]));
    expect(await client.waitForStatus(1)).toBe("0");
    expect(readBodies(client, 1)).toEqual(["x".repeat(1_000)]);
  });

  it("gives a handler that is behind no message until it is ready, and loses none", async () => {
    const client = await open();
    wire.answer = (body, call) => {
      if (body.toString() === "0") call.pause();
      return body;
    };
    const texts = Array.from({ length: 50 }, (_, index) => String(index));
    await client.write(
      formatCall(1, PROCESS.path),
      ...texts.map((text) => formatMessage(1, encodeBody(text))),
      formatFrame(FRAME.ping, 0, 0, Buffer.alloc(8)),
    );
    await waitFor("the answer to the PING", () => client.find(FRAME.ping));
    expect(wire.bodies[0]).toEqual(["0"]);
    wire.calls[0]?.resume();
    expect(wire.bodies[0]).toEqual(texts);
    await waitFor("all answers", () => readBodies(client, 1).length === 50);
  });

  it("waits for a client that reads nothing, and goes on when it does", async () => {
    const window = 2 ** 31 - 1;
    const client = await open([[SETTING.initialWindowSize, window]]);
    await client.write(formatWindowUpdate(0, window - 65_535));
    client.pause();
    const body = "x".repeat(MAX_MESSAGE_BYTES / 4);
    const ids = Array.from({ length: 40 }, (_, index) => 2 * index + 1);
    await client.write(
      ...ids.flatMap((id) => [
        formatCall(id, PROCESS.path),
        formatMessage(id, encodeBody(body), FLAG.endStream),
      ]),
    );
    await waitFor("all bodies", () => wire.bodies.flat().length === ids.length);
    // As long as a call would have to be ended that can be: one that is not read is not broken off for it.
    const other = await open();
    await other.write(formatCall(1, "/no.such/Method"));
    expect(await other.waitForReset(1)).toBe(ERROR.noError);
    client.resume();
    for (const id of ids) expect(await client.waitForStatus(id)).toBe("0");
    expect(ids.every((id) => readBodies(client, id)[0] === body)).toBe(true);
  });
});

describe("a drain", () => {
  it("asks twice: calls that were on their way are served, later ones passed over, open ones run on", async () => {
    const client = await open();
    await client.write(formatCall(1, PROCESS.path), formatCall(3, HEALTH_WATCH.path));
    await waitFor("an open call", () => wire.server.openStreams === 1);
    const drained = wire.server.drain(20_000);
    const goaways = () => client.frames.filter(({ type }) => type === FRAME.goaway);
    await waitFor("the first GOAWAY", () => goaways().length === 1);
    expect(goaways()[0]?.payload.readUInt32BE(0)).toBe(2 ** 31 - 1);
    await client.write(
      formatCall(5, PROCESS.path),
      formatMessage(5, encodeBody("on its way"), FLAG.endStream),
    );
    expect(await client.waitForStatus(5)).toBe("0");
    const ping = client.find(FRAME.ping)?.payload ?? EMPTY;
    await client.write(formatFrame(FRAME.ping, FLAG.ack, 0, ping));
    await waitFor("the second GOAWAY", () => goaways().length === 2);
    expect(goaways()[1]?.payload.readUInt32BE(0)).toBe(5);
    await client.write(formatCall(7, PROCESS.path), formatMessage(7, encodeBody("too late"), FLAG.endStream));
    await client.write(formatMessage(1, encodeBody("goes on"), FLAG.endStream));
    expect(await client.waitForStatus(1)).toBe("0");
    await drained;
    expect(wire.bodies).toEqual([["goes on"], ["on its way"]]);
    await client.write(formatReset(3, ERROR.cancel));
    await waitFor("the end of the connection", () => client.isClosed);
  });
});
