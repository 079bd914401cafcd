/** Whatever a peer could make grow on a connection of the transport `wire` has a bound. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { CHECK, PROCESS } from "../../../src/envoy/messages/codec.ts";
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
import { MAX_FRAME_BYTES, MAX_QUEUED_BYTES } from "../../../src/envoy/transport/wire/limits.ts";
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
describe("limits", () => {
  const repeat = (count: number, frame: (index: number) => Buffer) =>
    Array.from({ length: count }, (_, i) => frame(i));

  it.each([
    { name: "PINGs", frames: () => repeat(1_100, () => formatFrame(FRAME.ping, 0, 0, Buffer.alloc(8))) },
    { name: "SETTINGS", frames: () => repeat(1_100, () => formatSettings([])) },
    {
      name: "priorities",
      frames: () => repeat(1_100, () => formatFrame(FRAME.priority, 0, 1, Buffer.alloc(5))),
    },
    { name: "unknown frames", frames: () => repeat(1_100, () => formatFrame(200, 0, 1, EMPTY)) },
    {
      name: "empty DATA",
      frames: () => [
        formatCall(1, PROCESS.path),
        ...repeat(1_100, () => formatFrame(FRAME.data, 0, 1, EMPTY)),
      ],
    },
    { name: "updates of windows", frames: () => repeat(1_100, () => formatWindowUpdate(0, 1)) },
    {
      name: "CONTINUATIONs",
      frames: () => [
        formatFrame(FRAME.headers, 0, 1, EMPTY),
        ...repeat(20, () => formatFrame(FRAME.continuation, 0, 1, EMPTY)),
      ],
    },
    {
      name: "bytes of a block of headers",
      frames: () => [formatFrame(FRAME.headers, FLAG.endHeaders, 1, Buffer.alloc(70_000))],
    },
  ])("end a connection that sends too many $name", async ({ frames }) => {
    const client = await open();
    await client.write(...frames());
    expect(await client.waitForGoaway()).toBe(ERROR.enhanceYourCalm);
    await waitFor("no open call", () => wire.server.openStreams === 0);
  });

  it("leave a connection alone whose calls are reset, however many: each is a client's that went away", async () => {
    const client = await open();
    await client.write(
      ...repeat(25_000, (index) =>
        Buffer.concat([formatCall(2 * index + 1, PROCESS.path), formatReset(2 * index + 1, ERROR.cancel)]),
      ),
    );
    const last = 50_001;
    await client.write(formatCall(last, PROCESS.path), formatFrame(FRAME.data, FLAG.endStream, last, EMPTY));
    expect(await client.waitForStatus(last)).toBe("0");
    expect(client.find(FRAME.goaway)).toBeUndefined();
    expect(wire.server.openStreams).toBe(0);
  });

  it("drop a check that is taken back in the same write", async () => {
    const client = await open();
    const request = CHECK.encodeRequest({ attributes: { request: { http: { path: "/never" } } } });
    const takenBack = (id: number): Buffer =>
      Buffer.concat([
        formatCall(id, CHECK.path),
        formatMessage(id, request, FLAG.endStream),
        formatReset(id, ERROR.cancel),
      ]);
    await client.write(...repeat(100, (index) => takenBack(2 * index + 1)));
    await client.write(formatCall(201, PROCESS.path), formatFrame(FRAME.data, FLAG.endStream, 201, EMPTY));
    expect(await client.waitForStatus(201)).toBe("0");
    expect(wire.checks.count).toBe(0);
  });

  it("refuse a frame that is larger than was announced", async () => {
    const client = await open();
    await client.write(formatFrame(FRAME.data, 0, 1, Buffer.alloc(MAX_FRAME_BYTES + 1)));
    expect(await client.waitForGoaway()).toBe(ERROR.frameSizeError);
  });

  it("reset a call whose headers are too many, and only that one", async () => {
    const client = await open();
    const field = ["x", "y".repeat(30)] as const;
    await client.write(
      formatCall(
        1,
        PROCESS.path,
        Array.from({ length: 1_100 }, () => field),
      ),
    );
    expect(await client.waitForReset(1)).toBe(ERROR.enhanceYourCalm);
    await client.write(formatCall(3, PROCESS.path), formatFrame(FRAME.data, FLAG.endStream, 3, EMPTY));
    expect(await client.waitForStatus(3)).toBe("0");
  });

  it("fail a call beyond those that may be under way over all connections, until one has ended", async () => {
    await wire.stop();
    wire = await startWireServer(undefined, MAX_MESSAGE_BYTES, 2);
    const [first, second] = [await open(), await open()];
    await first.write(formatCall(1, PROCESS.path));
    await second.write(formatCall(1, PROCESS.path));
    await waitFor("two calls", () => wire.calls.length === 2);
    await second.write(formatCall(3, PROCESS.path), formatFrame(FRAME.data, FLAG.endStream, 3, EMPTY));
    expect(await second.waitForStatus(3)).toBe("8");
    await first.write(formatFrame(FRAME.data, FLAG.endStream, 1, EMPTY));
    expect(await first.waitForStatus(1)).toBe("0");
    await second.write(formatCall(5, PROCESS.path), formatFrame(FRAME.data, FLAG.endStream, 5, EMPTY));
    expect(await second.waitForStatus(5)).toBe("0");
    expect(wire.calls).toHaveLength(3);
  });

  it("reset a call that sends beyond its window", async () => {
    const client = await open();
    wire.answer = (_body, call) => {
      call.pause();
      return null;
    };
    await client.write(formatCall(1, PROCESS.path), formatMessage(1, encodeBody("first")));
    const message = formatMessage(1, encodeBody(Buffer.alloc(MAX_FRAME_BYTES - 100)));
    await client.write(message, message, message, message, message);
    expect(await client.waitForReset(1)).toBe(ERROR.flowControlError);
  });

  it("fail a call whose replies are not read", async () => {
    const client = await open([[SETTING.initialWindowSize, 0]]);
    wire.answer = () => Buffer.alloc(MAX_MESSAGE_BYTES / 2);
    await client.write(formatCall(1, PROCESS.path), ...repeat(8, () => formatMessage(1, encodeBody("more"))));
    // The status waits behind what is not read, so the end of its time comes first.
    expect(await client.waitForReset(1)).toBe(ERROR.internalError);
    await waitFor("the end of the call", () => wire.ended.count === 1);
  });

  it("leave others their replies when those that some do not read have filled the connection", async () => {
    const client = await open([[SETTING.initialWindowSize, 0]]);
    const reply = Buffer.alloc(MAX_MESSAGE_BYTES - 1_000);
    wire.answer = () => reply;
    const calls = Math.ceil(MAX_QUEUED_BYTES / (2 * reply.length)) + 1;
    const message = (id: number): Buffer => formatMessage(id, encodeBody("more"));
    await client.write(
      ...repeat(calls, (index) => {
        const id = 2 * index + 1;
        return Buffer.concat([formatCall(id, PROCESS.path), message(id), message(id)]);
      }),
    );
    await waitFor("all of them", () => wire.bodies.flat().length > MAX_QUEUED_BYTES / reply.length);
    wire.answer = () => Buffer.from("small");
    const id = 100_001;
    await client.write(formatCall(id, PROCESS.path), formatWindowUpdate(id, 1_000), message(id));
    await waitFor("a reply", () => client.messages(id).length === 1);
    expect(client.find(FRAME.goaway)).toBeUndefined();
  });

  it("end a call at its deadline", async () => {
    const client = await open();
    const request = CHECK.encodeRequest({ attributes: { request: { http: { path: "/never" } } } });
    await client.write(
      formatCall(1, CHECK.path, [["grpc-timeout", "100m"]]),
      formatMessage(1, request, FLAG.endStream),
    );
    expect(await client.waitForStatus(1)).toBe("4");
    await waitFor("no open call", () => wire.server.openStreams === 0);
  });

  it("reset a call that its client does not end", async () => {
    const client = await open();
    await client.write(formatCall(1, "/no.such/Method"));
    expect(await client.waitForStatus(1)).toBe("12");
    expect(await client.waitForReset(1)).toBe(ERROR.noError);
  });
});
