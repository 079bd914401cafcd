import {
  ConnectionError,
  ERROR,
  FLAG,
  formatFrame,
  formatSettings,
  formatWindowUpdate,
  DEFAULT_WINDOW_BYTES,
  FRAME,
  frameSizeError,
  SETTING,
} from "./frames.ts";
import {
  CONNECTION_WINDOW_BYTES,
  MAX_CONCURRENT_STREAMS,
  MAX_FRAME_BYTES,
  MAX_HEADER_BYTES,
  STREAM_WINDOW_BYTES,
} from "./limits.ts";
import type { TurnWriter } from "./turn-writer.ts";
import { PeerSettings } from "./peer-settings.ts";

const GREETING = Buffer.concat([
  formatSettings([
    // Makes Envoy send the same bytes for each call: no table is needed, and whole blocks can be cached.
    [SETTING.headerTableSize, 0],
    [SETTING.maxConcurrentStreams, MAX_CONCURRENT_STREAMS],
    [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
    [SETTING.maxFrameSize, MAX_FRAME_BYTES],
    [SETTING.maxHeaderListSize, MAX_HEADER_BYTES],
  ]),
  formatWindowUpdate(0, CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES),
]);
const SETTINGS_ACK = formatFrame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0));

/** SETTINGS and PING: settings of both sides of a connection, and liveness. */
export class ControlFrames {
  readonly peer = new PeerSettings();
  readonly #writer: TurnWriter;
  readonly #onAcknowledged: () => void;
  #hasSettings = false;
  #isAcknowledged = false;
  #onPong: () => void = () => {};

  constructor(writer: TurnWriter, onAcknowledged: () => void) {
    this.#writer = writer;
    this.#onAcknowledged = onAcknowledged;
    writer.write(GREETING);
  }

  /** True if the peer has sent its SETTINGS, which must be its first frame. */
  get hasSettings(): boolean {
    return this.#hasSettings;
  }

  /** True if the peer's settings and its acknowledgment of ours have arrived. */
  get isSettled(): boolean {
    return this.#hasSettings && this.#isAcknowledged;
  }

  /** Returns the change of each stream's window. @throws ConnectionError */
  receiveSettings(flags: number, streamId: number, payload: Buffer): number {
    if (streamId !== 0) throw new ConnectionError(ERROR.protocolError, "SETTINGS of a stream");
    if ((flags & FLAG.ack) !== 0) {
      if (payload.length > 0) throw new ConnectionError(ERROR.frameSizeError, "SETTINGS with ACK and values");
      this.#isAcknowledged = true;
      this.#onAcknowledged();
      return 0;
    }
    const before = this.peer.initialWindowBytes;
    this.peer.read(payload);
    this.#hasSettings = true;
    this.#writer.write(SETTINGS_ACK);
    return this.peer.initialWindowBytes - before;
  }

  /** @throws ConnectionError */
  receivePing(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw new ConnectionError(ERROR.protocolError, "a PING of a stream");
    if (payload.length !== 8) throw frameSizeError("a PING of another size than 8");
    if ((flags & FLAG.ack) !== 0) this.#onPong();
    else this.#writer.write(formatFrame(FRAME.ping, FLAG.ack, 0, payload));
  }

  /** Resolves when the peer has read everything sent before. Never rejects, but may never resolve. */
  async ping(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onPong = resolve;
      this.#writer.write(formatFrame(FRAME.ping, 0, 0, Buffer.from("draining", "latin1")));
    });
  }
}
