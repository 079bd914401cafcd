/** Attacks with bodies and answers: large, slow, without an end, of millions of values, read by nobody. */
import { setTimeout as wait } from "node:timers/promises";
import { createBody, createOrder, ROUTES } from "../orders.ts";
import { type Attack, repeat, type Target } from "./attack.ts";
import { openCall, type RawCall, sendCall } from "./raw-call.ts";

const MEBIBYTE = 1024 ** 2;
const PIECE = Buffer.alloc(256 * 1024, 0x20);

const routeOf = (index: number) => ROUTES[index % ROUTES.length] ?? ROUTES[0];

async function writeBlanks(call: RawCall, bytes: number): Promise<void> {
  for (let left = bytes; left > 0; left -= PIECE.length) {
    await Promise.race([call.write(PIECE.subarray(0, Math.min(left, PIECE.length))), call.over]);
  }
}

/** All but the last bytes, of a length that is said or not; then the client goes. */
const unfinishedUploads: Attack = async (target) => {
  const bytes = target.isLong ? 33_000_000 : 8_000_000;
  const calls: RawCall[] = [];
  const written = repeat(target.isLong ? 66 : 40, 66, async (index) => {
    const length = index % 2 === 0 ? bytes : null;
    const call = openCall(target, { key: target.keys.roomy, path: routeOf(index), length });
    calls.push(call);
    await writeBlanks(call, bytes - 70_000);
  });
  // What waits for memory is written as long as it is left there.
  await (target.isLong ? written : Promise.race([written, wait(3_000)]));
  await wait(target.isLong ? 5_000 : 500);
  await leaveAll(calls);
};

/** A few bytes at a time, on many calls. */
const slowUploads: Attack = async (target) => {
  const calls = Array.from({ length: target.isLong ? 300 : 80 }, (_, index) =>
    openCall(target, { key: target.keys.roomy, path: routeOf(index), length: 60_000 }),
  );
  for (let round = 0; round < (target.isLong ? 20 : 6); round += 1) {
    await Promise.all(calls.map((call) => Promise.race([call.write(Buffer.from("    ")), call.over])));
    await wait(200);
  }
  await leaveAll(calls);
};

/** Where no body is asked for. */
const unaskedBodies: Attack = async (target) => {
  const calls: RawCall[] = [];
  await repeat(target.isLong ? 60 : 20, 60, async (index) => {
    const path = index % 2 === 0 ? "/v1/models" : "/healthz";
    const call = openCall(target, { method: "GET", path, key: target.keys.roomy, length: null });
    calls.push(call);
    await writeBlanks(call, target.isLong ? 33_000_000 : 8_000_000);
  });
  await leaveAll(calls);
};

/** Long answers, of which the first piece is read. */
const slowReaders: Attack = async (target) => {
  const order = { outputTokens: target.isLong ? 60_000 : 20_000 };
  const calls: RawCall[] = [];
  const readers = target.isLong ? 80 : 16;
  for (let index = 0; index < readers; index += 1) {
    const route = routeOf(index);
    const body = Buffer.from(createBody(route, createOrder(order), { stream: true }));
    const options = { path: route, length: body.length, isAlone: true };
    const call = openCall(target, { key: target.keys.roomy, ...options });
    await call.write(body);
    call.end();
    calls.push(call);
    void call.begun.then(() => call.stopReading());
  }
  await Promise.all(calls.map((call) => call.begun));
  await wait(target.isLong ? 8_000 : 1_000);
  await leaveAll(calls);
};

/** 32 MiB each, eight of one key at a time, before a model that takes its time. */
const largeBodies: Attack = async (target) => {
  const before = "x ".repeat(15.9 * MEBIBYTE);
  await repeat(target.isLong ? 40 : 8, target.isLong ? 12 : 8, (index) => {
    const order = createOrder({ outputTokens: 20, tokenMs: target.isLong ? 150 : 50 });
    return sendCall(target, {
      key: target.keys.roomy,
      path: routeOf(index),
      body: createBody(routeOf(index), order, { before }),
    });
  });
};

/** Empty objects or lists in the place of the conversation, as many as fit; and lists in lists. */
const jsonBombs: Attack = async (target) => {
  const count = target.isLong ? 11_000_000 : 4_000_000;
  const flat = (value: string): string => `[${`${value},`.repeat(count - 1)}${value}]`;
  const deep = `${"[".repeat(count)}${"]".repeat(count)}`;
  const values = [flat("{}"), flat("[]"), deep, `{"a":`.repeat(200_000) + "1" + "}".repeat(200_000)];
  await repeat(target.isLong ? 24 : 6, 3, (index) => {
    const route = routeOf(index);
    const field = route === "/v1/responses" ? "input" : "messages";
    const value = values[index % values.length] ?? "";
    const body = `{"model":"acme/counted","max_tokens":9,"${field}":${value}}`;
    return sendCall(target, { key: target.keys.roomy, path: route, body });
  });
};

/** A little less of names and numbers than a body may have: what is read, and takes the most time to read. */
const manyNames: Attack = async (target) => {
  const fields = Array.from({ length: 240_000 }, (_, index) => `"k${index.toString(36)}":0`);
  const objects = Array.from({ length: 120_000 }, (_, index) => `{"k${index}":0}`);
  const numbers = Array.from({ length: 1_900_000 }, (_, index) => `0.${index}123456789`);
  const values = [`{${fields.join(",")}}`, `[${objects.join(",")}]`, `[${numbers.join(",")}]`];
  await repeat(target.isLong ? 24 : 6, 3, (index) => {
    const more = `,"metadata":${values[index % values.length] ?? ""}}`;
    const body = createBody(routeOf(index), createOrder()).slice(0, -1) + more;
    return sendCall(target, { key: target.keys.roomy, path: routeOf(index), body });
  });
};

async function leaveAll(calls: readonly RawCall[]): Promise<void> {
  for (const call of calls) call.leave();
  await Promise.all(calls.map((call) => call.over));
}

export const BODY_ATTACKS = {
  "unfinished uploads": unfinishedUploads,
  "slow uploads": slowUploads,
  "bodies where none is asked for": unaskedBodies,
  "answers that nobody reads": slowReaders,
  "large bodies to a slow model": largeBodies,
  "JSON of millions of values": jsonBombs,
  "JSON of many names and numbers": manyNames,
} satisfies Record<string, (target: Target) => Promise<void>>;
