/** A server that closes a connection it has promised to keep, in the moment in which the next request comes. */
import { once } from "node:events";
import { Agent } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { chatBody } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { withStack } from "../support/with-stack.ts";
import { readRequest } from "./metering-figures.ts";

const USAGE = { promptTokens: 7, cachedTokens: 0, completionTokens: 2 };
const ANSWER = JSON.stringify(textCompletion("Hello.", USAGE));
const HEAD = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(ANSWER)}\r\n`;
const KEPT = `${HEAD}connection: keep-alive\r\n\r\n${ANSWER}`;

/** Of a server to which nothing else is sent. */
const FRESH_MODEL = "acme/fresh";

/** What the server does at each further request of a connection: answers, closes, or breaks off in its headers. */
type Act = "answer" | "close" | "reset" | "half" | "late";

const ACTS: Readonly<Record<Act, (socket: Socket) => void>> = {
  answer: (socket) => socket.write(KEPT),
  close: (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
  /** The server has worked on the request for longer than a stale connection takes to break. */
  late: (socket) => void setTimeout(() => socket.resetAndDestroy(), 1_500),
  half: (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-"),
};

let acts: Act[] = [];
const servers: Server[] = [];

async function startServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    let read = "";
    socket.on("data", (chunk: Buffer) => {
      read += chunk.toString();
      // The body is one line of JSON behind the headers.
      if (!/\r\n\r\n\{.*\}$/su.test(read)) return;
      read = "";
      ACTS[acts.shift() ?? "answer"](socket);
    });
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

afterAll(() => {
  for (const server of servers) server.close();
});

describe("a connection that a server has promised to keep", () => {
  const getStack = withStack(async () => ({
    upstreams: [
      { name: "local", url: await startServer(), path_prefix: "/v1" },
      { name: "fresh", url: await startServer(), path_prefix: "/v1" },
    ],
    catalog: [catalogEntry(), catalogEntry({ id: FRESH_MODEL, upstream: "fresh" })],
  }));

  /** One request after the other over one connection of the client's, so by one thread of Envoy's. */
  async function sendAll(planned: readonly Act[], model = CHAT_MODEL) {
    acts = [...planned];
    const key = await getStack().createKey();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const rows = [];
    for (const _ of planned) {
      const answer = await getStack().send({
        path: "/v1/chat/completions",
        key: key.key,
        body: chatBody({ model }),
        agent,
      });
      const row = await readRequest(getStack(), key, answer);
      rows.push({ status: answer.status, retry: answer.headers["x-should-retry"], row });
      expect(JSON.stringify(answer.headers)).not.toContain("x-igw-");
    }
    return rows;
  }

  it.each(["close", "reset"] as const)(
    "costs nothing when it ends without a byte in answer: %s",
    async (ending) => {
      const [first, stale, next] = await sendAll(["answer", ending, "answer"]);
      expect(first).toMatchObject({ status: 200, row: { estimated: false } });
      expect(stale).toMatchObject({
        status: 502,
        retry: "true",
        row: { error_code: "upstream_error", cost_microcents: 0, input_tokens: 0, estimated: false },
      });
      expect(next).toMatchObject({ status: 200, row: { output_tokens: USAGE.completionTokens } });
    },
  );

  it("costs the prompt when a byte came back, after a second, and when the connection was made for the request", async () => {
    const [, half] = await sendAll(["answer", "half"]);
    const [, late] = await sendAll(["answer", "late"]);
    const [fresh] = await sendAll(["reset"], FRESH_MODEL);
    for (const broken of [half, late, fresh]) {
      expect(broken).toMatchObject({ status: 502, row: { error_code: "upstream_error", estimated: true } });
      expect(broken?.row.cost_microcents).toBeGreaterThan(0);
    }
  });
});
