/** An export whose reader stops reading: what the server holds for it, and how it ends. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageRow } from "../../src/shared/stored/reporting.ts";
import { NO_USAGE } from "../../src/shared/usage/usage-figures.ts";
import { type AdminUnderTest, createOrganization, OPERATOR_TOKEN, startAdmin } from "./admin-fixture.ts";

const MONTH = "2028-02";
const DAYS = 29;
const ROWS_PER_DAY = 1_000;
/** About a kilobyte of text for each row: far more in a month than the sockets of both sides hold. */
const TAGS = Array.from({ length: 8 }, (_, index) => `t${index}${"n".repeat(50)}=${"v".repeat(64)}`).join(
  ",",
);
const IDLE_TIMEOUT_MS = 300;

let real: AdminUnderTest;
let admin: AdminUnderTest;
let impatient: AdminUnderTest;
let organization = "";
/** The days that were read, by export. */
let reads = new Map<string, number>();

beforeAll(async () => {
  real = await startAdmin();
  organization = await createOrganization(real, {});
  const readUsageOfDay = async (_id: string, day: string): Promise<UsageRow[]> => {
    reads.set(day, (reads.get(day) ?? 0) + 1);
    return Array.from({ length: ROWS_PER_DAY }, (_, index) => ({
      ...NO_USAGE,
      day,
      keyId: null,
      owners: "",
      model: `acme/model-${String(index).padStart(4, "0")}`,
      tags: TAGS,
      requests: 1,
    }));
  };
  const store = { ...real.store, readUsageOfDay };
  admin = await startAdmin({ store });
  impatient = await startAdmin({ store, idleTimeoutMs: IDLE_TIMEOUT_MS });
});
afterAll(() => Promise.all([admin, impatient, real].map((each) => each?.stop())));

const path = (): string => `/api/organizations/${organization}/usage/export?month=${MONTH}`;

/** Asks for the export, and reads nothing more once it has begun. */
async function stall({ url }: AdminUnderTest): Promise<{ socket: Socket; chunks: Buffer[] }> {
  reads = new Map();
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const head = `GET ${path()} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n`;
  socket.write(`${head}authorization: Bearer ${OPERATOR_TOKEN}\r\n\r\n`);
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  chunks.push(first);
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.pause();
  return { socket, chunks };
}

/** A whole export of another reader: in its time the stalled one would have come to its end as well. */
async function readWhole(): Promise<string> {
  const answer = await fetch(`${admin.url}${path()}`, {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  });
  return answer.text();
}

/** As seen by the timers of the server, which are of this process: each that was due within that time has fired. */
async function untilNothingIsRead(forMs: number): Promise<void> {
  for (let before = -1; before !== reads.size; await pause(forMs)) before = reads.size;
}

const daysReadTwice = (): number => [...reads.values()].filter((count) => count > 1).length;

/** The body of a chunked answer. */
function readBody(chunks: readonly Buffer[]): string {
  let rest = Buffer.concat(chunks);
  rest = rest.subarray(rest.indexOf("\r\n\r\n") + 4);
  const pieces: Buffer[] = [];
  for (;;) {
    const end = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.subarray(0, end).toString("latin1"), 16);
    if (!(size > 0)) return Buffer.concat(pieces).toString("utf8");
    pieces.push(rest.subarray(end + 2, end + 2 + size));
    rest = rest.subarray(end + 2 + size + 2);
  }
}

describe("an export whose reader stops reading", () => {
  it("is held back, and arrives whole once it is read on", async () => {
    const { socket, chunks } = await stall(admin);
    const whole = await readWhole();
    expect(whole.trimEnd().split("\n")).toHaveLength(1 + DAYS * ROWS_PER_DAY);
    expect(daysReadTwice()).toBeLessThan(DAYS);
    const ended = once(socket, "end");
    socket.resume();
    await ended;
    expect(readBody(chunks)).toBe(whole);
    expect(daysReadTwice()).toBe(DAYS);
  });

  it("is given up when its reader goes away: nothing more is read for it", async () => {
    const { socket } = await stall(admin);
    await readWhole();
    const before = daysReadTwice();
    socket.destroy();
    await readWhole();
    expect([...reads.values()].filter((count) => count > 2).length).toBe(before);
    expect(before).toBeLessThan(DAYS);
  });

  it("is cut off when nothing is read for so long", async () => {
    const { socket, chunks } = await stall(impatient);
    const ended = Promise.race([once(socket, "end"), once(socket, "error")]);
    await untilNothingIsRead(10 * IDLE_TIMEOUT_MS);
    socket.resume();
    await ended;
    expect(readBody(chunks).length).toBeLessThan((await readWhole()).length);
  });
});
