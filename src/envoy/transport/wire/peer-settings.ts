import {
  ConnectionError,
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ERROR,
  MAX_WINDOW_BYTES,
  SETTING,
} from "./frames.ts";

const LARGEST_FRAME_BYTES = 2 ** 24 - 1;

/** Settings of the peer that matter to a sender of plain literals without pushes. */
export class PeerSettings {
  initialWindowBytes = DEFAULT_WINDOW_BYTES;
  maxFrameBytes = DEFAULT_FRAME_BYTES;

  /** @throws ConnectionError for values that RFC 9113, section 6.5.2, forbids. */
  read(payload: Buffer): void {
    if (payload.length % 6 !== 0) throw new ConnectionError(ERROR.frameSizeError, "a SETTINGS of odd length");
    for (let at = 0; at < payload.length; at += 6) {
      this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    }
  }

  #set(setting: number, value: number): void {
    if (setting === SETTING.enablePush) {
      if (value > 1) throw new ConnectionError(ERROR.protocolError, "ENABLE_PUSH is neither 0 nor 1");
    } else if (setting === SETTING.initialWindowSize) {
      if (value > MAX_WINDOW_BYTES) throw new ConnectionError(ERROR.flowControlError, "too large a window");
      this.initialWindowBytes = value;
    } else if (setting === SETTING.maxFrameSize) {
      if (value < DEFAULT_FRAME_BYTES || value > LARGEST_FRAME_BYTES) {
        throw new ConnectionError(ERROR.protocolError, "MAX_FRAME_SIZE is out of bounds");
      }
      this.maxFrameBytes = value;
    }
  }
}
