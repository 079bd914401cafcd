/** An upstream by HTTP/2: clients share its connections, and those that do not read stop none of the others. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { textChunk, textCompletion } from "../support/scripted-answer.ts";
import { type Stack, startStack } from "../support/stack.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createTestAuthority, type TestAuthority } from "../support/tls.ts";
import { waitFor } from "../support/wait.ts";

const READERS = 6;
const USAGE = { promptTokens: 3, cachedTokens: 0, completionTokens: 2 };
const CHUNK = `data: ${JSON.stringify(textChunk("x".repeat(1024 ** 2)))}\n\n`;
/** Of one answer: more than what Envoy and the worker hold of it. */
const CHUNKS = 40;

let files: string;
let authority: TestAuthority;
let upstream: Http2SecureServer;
let stack: Stack;
let key: CreatedKey;
/** Answers that the upstream has begun and cannot send on. */
let heldBack = 0;

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), "igw-pem-"));
  authority = await createTestAuthority();
  const server = await authority.issue("127.0.0.1", ["IP:127.0.0.1"]);
  writeFileSync(join(files, "ca.pem"), authority.ca);
  upstream = createSecureServer({ key: server.key, cert: server.cert, maxSessionMemory: 1_000 });
  upstream.on("stream", (stream) => {
    stream.on("error", () => {});
    let body = "";
    stream.on("data", (piece: Buffer) => (body += piece.toString()));
    stream.on("end", () => {
      if (!body.includes('"stream":true')) {
        stream.respond({ ":status": 200, "content-type": "application/json" });
        stream.end(JSON.stringify(textCompletion("hello", USAGE)));
        return;
      }
      stream.respond({ ":status": 200, "content-type": "text/event-stream" });
      for (let sent = 0; sent < CHUNKS; sent += 1) stream.write(CHUNK);
      heldBack += 1;
    });
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const url = `https://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const tls = { ca_file: join(files, "ca.pem") };
  stack = await startStack({ upstreams: [{ name: "local", url, path_prefix: "/v1", tls }] });
  key = await stack.createKey();
}, 240_000);
afterAll(async () => {
  await stack?.stop();
  upstream?.close();
  await authority?.close();
  rmSync(files, { recursive: true, force: true });
});

it("answers that six clients do not read leave those of others alone", async () => {
  for (let index = 0; index < READERS; index += 1) await beginWithoutReading();
  await waitFor("all answers to have begun", () => heldBack === READERS);
  for (let asked = 0; asked < 5; asked += 1) {
    const answer = await stack.send({ path: CHAT_PATH, key: key.key, body: chatBody(), timeoutMs: 15_000 });
    expect(describeAnswer(answer)).toBe("200");
  }
});

async function beginWithoutReading(): Promise<void> {
  const socket = connect(Number(new URL(stack.baseUrl).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const body = JSON.stringify(chatBody({ stream: true }));
  const head = [
    `POST ${CHAT_PATH} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${key.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  await once(socket, "readable");
}
