/** Messages that are not whole: what a connection keeps of them has a bound, and each of them becomes whole all the same. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { PROCESS } from "../../../src/envoy/messages/codec.ts";
import { ERROR, FLAG, formatFrame, formatReset, FRAME } from "../../../src/envoy/transport/wire/frames.ts";
import {
  INCOMPLETE_BYTES,
  MAX_INCOMPLETE_BYTES,
  STREAM_WINDOW_BYTES,
} from "../../../src/envoy/transport/wire/limits.ts";
import { waitFor } from "../../support/wait.ts";
import { formatCall, formatGreeting, formatMessage, WireClient } from "../../support/wire-client.ts";
import { startWireServer, type WireServer } from "./wire-server.ts";

const MEBIBYTE = 1024 ** 2;
const MESSAGE_BYTES = 12 * MEBIBYTE;
const CALLS = 20;
const FRAME_BYTES = 256 * 1024;
const EMPTY = Buffer.alloc(0);
/** With gRPC's prefix, and without the nine bytes of a frame's header. */
const MESSAGE = formatMessage(
  1,
  PROCESS.encodeRequest({ request_body: { body: Buffer.alloc(MESSAGE_BYTES) } }),
).subarray(9);

let wire: WireServer;
let client: WireClient;

beforeEach(async () => {
  wire = await startWireServer(undefined, 2 * MESSAGE_BYTES);
  wire.answer = (body) => Buffer.from(String(body.length));
  client = await WireClient.open(wire.socketPath);
  await client.write(formatGreeting());
});
afterEach(async () => {
  client.close();
  await wire.stop();
});

/** A call with one message, sent as far as the server lets it. */
class Upload {
  readonly id: number;
  granted = STREAM_WINDOW_BYTES;
  sent = 0;

  constructor(id: number) {
    this.id = id;
  }

  get isWhole(): boolean {
    return this.sent === MESSAGE.length;
  }

  async begin(): Promise<void> {
    await client.write(formatCall(this.id, PROCESS.path));
    await this.sendOn();
  }

  async sendOn(): Promise<void> {
    while (this.sent < Math.min(this.granted, MESSAGE.length)) {
      const end = Math.min(this.sent + FRAME_BYTES, this.granted, MESSAGE.length);
      await client.write(formatFrame(FRAME.data, 0, this.id, MESSAGE.subarray(this.sent, end)));
      this.sent = end;
    }
  }
}

function createUploads(count: number): Upload[] {
  return Array.from({ length: count }, (_, index) => new Upload(2 * index + 1));
}

describe("messages that are not whole", () => {
  it("take no more than their bound and a window each, and become whole one after the other", async () => {
    const uploads = createUploads(CALLS);
    for (const upload of uploads) await upload.begin();
    let most = 0;
    let seen = 0;
    await waitFor("every message to be whole", async () => {
      for (; seen < client.frames.length; seen += 1) {
        const { type, streamId, payload } = client.frames[seen] ?? { type: -1, streamId: 0, payload: EMPTY };
        const upload = uploads.find(({ id }) => id === streamId);
        if (type !== FRAME.windowUpdate || upload === undefined) continue;
        upload.granted += payload.readUInt32BE();
        const open = uploads.filter(({ isWhole }) => !isWhole);
        most = Math.max(
          most,
          open.reduce((sum, { granted }) => sum + granted, 0),
        );
        await upload.sendOn();
      }
      return uploads.every(({ isWhole }) => isWhole);
    });
    for (const { id } of uploads) {
      await waitFor("an answer", () => client.messages(id).length === 1);
    }
    expect(most).toBeLessThanOrEqual(INCOMPLETE_BYTES + CALLS * STREAM_WINDOW_BYTES + MESSAGE_BYTES);
    expect(most).toBeGreaterThan(INCOMPLETE_BYTES);
  });

  it("let the next one grow when the first is reset", async () => {
    const uploads = createUploads(80);
    for (const upload of uploads) await upload.begin();
    for (const { id } of uploads.slice(0, 40)) await client.write(formatReset(id, ERROR.cancel));
    const last = uploads.at(-1);
    const update = await waitFor("window for the last one", () => client.find(FRAME.windowUpdate, last?.id));
    expect(update.payload.readUInt32BE()).toBe(STREAM_WINDOW_BYTES);
  });

  it("fail the calls that begin beyond all bounds, and no other", async () => {
    const uploads = createUploads(MAX_INCOMPLETE_BYTES / STREAM_WINDOW_BYTES + 1);
    for (const upload of uploads) await upload.begin();
    const last = uploads.at(-1);
    expect(await client.waitForStatus(last?.id ?? 0)).toBe("8");
    const small = 2 * uploads.length + 1;
    const request = PROCESS.encodeRequest({ request_body: { body: Buffer.from("small") } });
    await client.write(formatCall(small, PROCESS.path), formatMessage(small, request, FLAG.endStream));
    await waitFor("an answer", () => client.messages(small).length === 1);
  });
});
