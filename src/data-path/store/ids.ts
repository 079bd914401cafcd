/**
 * Ids of organizations, keys, requests and other records: a prefix and a UUID version 7 (RFC 9562). They sort
 * by creation time, and the time can be read from them. Ids of one process within a millisecond count up from
 * a random number (section 6.2, method 1); ids of two processes within a millisecond sort randomly.
 */
import { randomFillSync } from "node:crypto";

const ID = /^([a-z]+)_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const RANDOM_BYTES = 10;
/** One system call fills many ids. */
const POOL = Buffer.alloc(RANDOM_BYTES * 256);
let used = POOL.length;
/** Counters start below this value, so that many ids can follow within the millisecond: the counter has 12 bits. */
const COUNTER_STARTS_BELOW = 0x400;
const COUNTERS = 0x1000;
let lastMs = -1;
let counter = 0;

export type IdPrefix =
  | "org"
  | "key"
  | "req"
  | "alert"
  | "corr"
  | "token"
  | "webhook"
  | "user"
  | "group"
  | "raise";

/** Creates an id such as "req_01934f6e-…". */
export function createId(prefix: IdPrefix, nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, "0");
  const start = drawRandom();
  const isSameMs = nowMs === lastMs && counter + 1 < COUNTERS;
  counter = isSameMs ? counter + 1 : POOL.readUInt16BE(start) % COUNTER_STARTS_BELOW;
  lastMs = nowMs;
  // Version 7 and the counter in the first two bytes, variant 10 in the top bits of the third.
  POOL.writeUInt16BE(0x7000 | counter, start);
  POOL[start + 2] = 0x80 | ((POOL[start + 2] ?? 0) & 0x3f);
  const tail = POOL.toString("hex", start, start + RANDOM_BYTES);
  return `${prefix}_${time.slice(0, 8)}-${time.slice(8)}-${tail.slice(0, 4)}-${tail.slice(4, 8)}-${tail.slice(8)}`;
}

/** Returns whether a text has the form of an id with this prefix. Other texts are never put into a Redis key. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return ID.exec(text)?.[1] === prefix;
}

/** Returns the time in an id, Unix milliseconds by its creator's clock, or null if the text is not an id. */
export function timeOfId(id: string): number | null {
  if (!ID.test(id)) return null;
  const start = id.indexOf("_") + 1;
  return Number.parseInt(id.slice(start, start + 8) + id.slice(start + 9, start + 13), 16);
}

/** Tolerated difference between the clock of an id's creator and Redis's. */
export const CLOCK_SKEW_MS = 60_000;

/** Returns the position in the pool of the next unused random bytes. */
function drawRandom(): number {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  const start = used;
  used += RANDOM_BYTES;
  return start;
}
