/** What a stranger can make the access log of a whole stack take: a line of a bounded length, and nothing on a short disk. */
import { lstatSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import type { Stack } from "../support/stack.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";

const MAX_LINE_BYTES = 4_096;
const LONG = 28_000;
const UPSTREAMS = [{ name: "local", url: "http://127.0.0.1:9" }];

const logOf = ({ dir }: Stack): string => join(dir, "data/logs/access.log");

/** As bytes, which no client library sends. Resolves with the status line. */
function sendRaw({ baseUrl }: Stack, head: Buffer): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => void socket.write(head));
    let text = "";
    socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
    socket.once("close", () => resolve(text.split("\r\n")[0] ?? ""));
    socket.once("error", reject);
  });
}

const head = (path: string, userAgent: string): Buffer =>
  Buffer.from(
    `GET /v1/${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-request-id: ${"i".repeat(3_000)}\r\nuser-agent: ${userAgent}\r\n\r\n`,
    "latin1",
  );

const HEADS = [
  head(`plain${"p".repeat(LONG)}`, "u".repeat(LONG)),
  head(`quoted${'"'.repeat(LONG)}`, '"\\'.repeat(LONG / 2)),
  head(`bytes${"%ff".repeat(LONG / 4)}`, "\xff\xfe".repeat(LONG / 2)),
];

describe("the access log of a stack", () => {
  const chat = withSharedChatStack();

  it("has lines of at most 4 KiB, whatever a stranger without a key sends", async () => {
    for (const each of HEADS) expect(await sendRaw(chat.stack, each)).toMatch(/^HTTP\/1\.1 40[01] /);
    // Last: Envoy writes its lines in order.
    await sendRaw(chat.stack, head("the-last", "x"));
    const lines = await waitFor(
      "the lines",
      () => {
        const text = readFileSync(logOf(chat.stack), "utf8");
        return text.includes("/v1/the-last") && text.trimEnd().split("\n");
      },
      { timeoutMs: 30_000 },
    );
    expect(lines.filter((line) => line.includes("/v1/plainp"))).toHaveLength(1);
    expect(lines.filter((line) => Buffer.byteLength(line) > MAX_LINE_BYTES)).toEqual([]);
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});

describe("the access log of a stack whose disk has less room than the spool may take", () => {
  const getStack = withStack({
    upstreams: UPSTREAMS,
    overrides: { settlement: { spool_max_bytes: 1024 ** 4 } },
  });

  it("is not written, and requests are served", async () => {
    const isStopped = () => lstatSync(logOf(getStack())).isSymbolicLink();
    await waitFor("the access log to stop", isStopped, { timeoutMs: 30_000 });
    expect((await getStack().send({ path: "/readyz" })).status).toBe(200);
    expect(lstatSync(logOf(getStack())).isSymbolicLink()).toBe(true);
  });
});
