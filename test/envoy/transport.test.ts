import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { Agent, type IncomingMessage, request as sendRequest, type RequestOptions } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectSocket, createServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { CHECK, HEALTH_CHECK, PROCESS, type ProcessingRequest } from "../../src/envoy/messages/codec.ts";
import { formatPrefix } from "../../src/envoy/transport/wire/grpc-frames.ts";
import { createEnvoyServer } from "../../src/envoy/server.ts";
import { byExtent } from "../support/extent.ts";
import { TRANSPORTS_UNDER_TEST } from "../support/gateway-config.ts";
import { runLoad } from "../support/running-load.ts";
import { createGate, waitFor, withTimeout } from "../support/wait.ts";
import {
  type Misbehaviour,
  PassingHandlers,
  startTransportStack,
  type TransportStack,
} from "./transport-stack.ts";

const MEBIBYTE = 1024 * 1024;
/** Of one run without a failure. */
const REQUESTS = byExtent({ push: 1_000, nightly: 3_000 });
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe.each(TRANSPORTS_UNDER_TEST)("the %s transport behind Envoy", (transport) => {
  let stack: TransportStack;
  let sumOfBytes: TransportStack["respond"];

  beforeAll(async () => {
    stack = await startTransportStack(transport);
    sumOfBytes = stack.respond;
  });
  afterEach(() => {
    stack.respond = sumOfBytes;
  });
  afterAll(async () => {
    await stack.stop();
  });

  const open = async (options: RequestOptions, body?: Buffer | string): Promise<IncomingMessage> => {
    const request = sendRequest({ host: "127.0.0.1", port: stack.port, agent, ...options });
    request.end(body);
    const [response] = (await withTimeout("a response", once(request, "response"))) as [IncomingMessage];
    return response;
  };
  const send = async (body: Buffer | string, test?: Misbehaviour): Promise<Answer> => {
    const headers = test === undefined ? {} : { "x-test": test };
    const response = await open({ method: "POST", path: "/", headers }, body);
    return { status: response.statusCode ?? 0, body: await readBody(response) };
  };
  /** Calls server A without Envoy; resolves with the status and the messages when the call is over. */
  const call = async (
    path: string,
    write: (stream: ClientHttp2Stream, session: ClientHttp2Session) => void,
  ): Promise<{ status: string; messages: Buffer }> => {
    const session = connect("http://gateway", { createConnection: () => connectSocket(stack.sockets[0]) });
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    let status = "none";
    const readStatus = (headers: Record<string, unknown>) => {
      status = typeof headers["grpc-status"] === "string" ? headers["grpc-status"] : status;
    };
    stream.on("response", readStatus).on("trailers", readStatus);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    write(stream, session);
    await withTimeout("the end of the call", once(stream, "end"));
    session.destroy();
    return { status, messages: Buffer.concat(chunks) };
  };
  const frame = (bytes: Buffer) => Buffer.concat([formatPrefix(bytes.length), bytes]);
  const headersMessage = (test: string): Buffer => {
    const headers = [{ key: "x-test", raw_value: Buffer.from(test) }];
    const request: ProcessingRequest = { request_headers: { headers: { headers } } };
    return frame(PROCESS.encodeRequest(request));
  };

  it("lets a request pass, checked and processed", async () => {
    stack.respond = (request, response) => response.end(request.headers["x-checked"]);
    const response = await open({ path: "/a?b=c" });
    expect(await readBody(response)).toBe("/a?b=c");
    expect(stack.unprocessed).toBe(0);
  });

  it("carries bodies of 10 MiB both ways", async () => {
    const body = Buffer.alloc(10 * MEBIBYTE, "0123456789abcdef");
    expect(await send(body)).toEqual({ status: 200, body: String(body.length) });
    stack.respond = (_request, response) => response.end(body);
    const answer = await send("");
    expect(answer.body.length).toBe(body.length);
  });

  it("passes an event stream chunk by chunk", async () => {
    const gates = [createGate(), createGate(), createGate()];
    stack.respond = (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const write = async () => {
        for (const [index, gate] of gates.entries()) {
          response.write(`data: ${index}\n\n`);
          await gate.opened;
        }
        response.end();
      };
      void write();
    };
    const response = await open({ method: "POST", path: "/" }, "{}");
    const chunks: string[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.toString());
      gates[chunks.length - 1]?.release();
    }
    expect(chunks).toEqual(["data: 0\n\n", "data: 1\n\n", "data: 2\n\n"]);
  });

  it.each([
    { name: "a denied check", test: "deny", status: 403, body: "denied" },
    { name: "an immediate response with a status unknown to Envoy", test: "busy", status: 529, body: "busy" },
    { name: "a call that fails before the headers' reply", test: "fail", status: 500, body: "" },
    { name: "a call that fails before the body's reply", test: "fail-body", status: 500, body: "" },
  ] as const)("never lets the request pass at $name", async ({ test, status, body }) => {
    expect(await send("{}", test)).toEqual({ status, body });
    expect(stack.unprocessed).toBe(0);
  });

  it("hands on what Envoy's access log says of each request", async () => {
    const { logged } = stack.handlers;
    const before = logged.length;
    await send("hello");
    // Those of requests before this one may still be on their way.
    const entry = await waitFor("the entry", () =>
      logged
        .slice(before)
        .flatMap(({ http_logs: logs }) => logs?.log_entry ?? [])
        .find(({ response }) => response?.response_code?.value === 200),
    );
    expect(entry.request?.request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(entry.response?.response_code_details).toBe("via_upstream");
  });

  it("tells of a client that went away exactly once", async () => {
    stack.respond = (_request, response) => void response.writeHead(200).write("first");
    const before = stack.handlers.ends.length;
    const response = await open({ method: "POST", path: "/", agent: false }, "{}");
    response.on("error", () => {});
    response.destroy();
    await waitFor("the end of the stream", () => stack.handlers.ends[before]?.ends === 1);
    await waitFor("no open stream", () => stack.servers.every(({ openStreams }) => openStreams === 0));
    expect(stack.handlers.ends.map(({ ends }) => ends)).toEqual(stack.handlers.ends.map(() => 1));
  });

  // Node's HTTP/2 takes some thousand resets before it says GOAWAY; none at all may be needed. Twenty thousand requests over
  // the whole stack are endurance.test.ts's.
  it(
    `serves ${REQUESTS} requests at concurrency 16 without a failure or a reset`,
    { timeout: 120_000 },
    async () => {
      const answers = new Map<string, number>();
      const isReset = (name: string) =>
        name.includes("sidecar") && /rx_reset|tx_reset|close_notify/.test(name);
      const readResets = async () =>
        Object.entries(await stack.readCounters("cluster.sidecar")).filter(([name]) => isReset(name));
      const before = await readResets();
      expect(before.length).toBeGreaterThan(2);
      let left = REQUESTS;
      const client = async () => {
        while (left > 0) {
          left -= 1;
          const { status, body } = await send("x".repeat(1024));
          answers.set(`${status} ${body}`, (answers.get(`${status} ${body}`) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: 16 }, client));
      expect(Object.fromEntries(answers)).toEqual({ "200 1024": REQUESTS });
      expect(await readResets()).toEqual(before);
      await waitFor("no open stream", () => stack.servers.every(({ openStreams }) => openStreams === 0));
      expect(stack.handlers.ends.every(({ ends }) => ends === 1)).toBe(true);
    },
  );

  it("offers windows that hold all but large bodies", async () => {
    const offered = { settings: {}, connection: 0 };
    const { status } = await call(HEALTH_CHECK.path, (stream, session) => {
      stream.once("response", () => {
        offered.settings = session.remoteSettings;
        offered.connection = session.state.remoteWindowSize ?? 0;
      });
      stream.end(frame(HEALTH_CHECK.encodeRequest({})));
    });
    expect(status).toBe("0");
    expect(offered.settings).toMatchObject({ initialWindowSize: MEBIBYTE, maxFrameSize: MEBIBYTE });
    expect(offered.connection).toBeGreaterThan(60 * MEBIBYTE);
  });

  it.each([
    { name: "an unknown method", path: "/a.B/C", bytes: Buffer.alloc(5), status: "12" },
    { name: "a message over the limit", path: PROCESS.path, bytes: formatPrefix(50 * MEBIBYTE), status: "8" },
    { name: "a message that is none", path: PROCESS.path, bytes: frame(Buffer.from("xxx")), status: "13" },
  ])("refuses $name", async ({ path, bytes, status }) => {
    expect((await call(path, (stream) => stream.write(bytes))).status).toBe(status);
  });

  it("takes messages in whatever pieces they come", async () => {
    const bytes = Buffer.concat([headersMessage(""), frame(PROCESS.encodeRequest({ request_body: {} }))]);
    const { status, messages } = await call(PROCESS.path, (stream) => {
      const write = async () => {
        for (const byte of bytes) {
          await new Promise((resolve) => stream.write(Buffer.from([byte]), resolve));
        }
        stream.end();
      };
      void write();
    });
    expect(status).toBe("0");
    const first = messages.subarray(5, 5 + messages.readUInt32BE(1));
    expect(PROCESS.decodeResponse(first).response).toBe("request_headers");
    expect(PROCESS.decodeResponse(messages.subarray(10 + first.length)).response).toBe("request_body");
  });

  it("never ends with OK while a reply is owed", async () => {
    const { status } = await call(PROCESS.path, (stream) => stream.end(headersMessage("silent")));
    expect(status).toBe("10");
  });

  it("drains server A without a failure, and open streams run on", async () => {
    const gate = createGate();
    stack.respond = (request, response) => {
      if (request.url !== "/long") return sumOfBytes(request, response);
      response.writeHead(200).write("begun ");
      void gate.opened.then(() => response.end("done"));
    };
    const long = await Promise.all(
      Array.from(
        { length: 8 },
        async () => await open({ method: "POST", path: "/long", agent: false }, "{}"),
      ),
    );
    const [a, b] = stack.servers;
    expect(a.openStreams).toBeGreaterThan(0);
    const statuses = new Set<number>();
    const state = { isDrained: false };
    const drain = async () => {
      await a.drain(20_000);
      state.isDrained = true;
    };
    const drained = drain();
    const load = runLoad(8, async () => void statuses.add((await send("{}")).status));
    await waitFor("A stops listening", async () => await isRefused(stack.sockets[0]));
    expect(state.isDrained).toBe(false);
    gate.release();
    expect(await Promise.all(long.map(readBody))).toEqual(long.map(() => "begun done"));
    await withTimeout("the drain", drained);
    await load.stop();
    expect([...statuses]).toEqual([200]);
    expect(a.openStreams).toBe(0);
    expect(await send("12345")).toEqual({ status: 200, body: "5" });
    await waitFor("B is idle", () => b.openStreams === 0);
  });

  it("lets no request pass when it is closed with calls open", async () => {
    const before = stack.handlers.unanswered;
    const pending = send("{}", "silent");
    await waitFor("an unanswered message", () => stack.handlers.unanswered > before);
    await stack.servers[1].close();
    expect((await pending).status).toBeGreaterThanOrEqual(500);
    expect(stack.unprocessed).toBe(0);
    expect(stack.handlers.ends.every(({ ends }) => ends === 1)).toBe(true);
  });

  it("sends a client away at a drain that sends nothing new before one that still does, and not never", async () => {
    const away: string[] = [];
    const statuses = new Set<unknown>();
    const start = async (name: string) => {
      const socketPath = `${stack.sockets[0]}.${name}`;
      const options = { transport, handlers: new PassingHandlers(), maxMessageBytes: 1024 };
      const server = await createEnvoyServer({ ...options, address: { socketPath } });
      await server.listen();
      const session = connect("http://gateway", { createConnection: () => connectSocket(socketPath) });
      session.once("goaway", () => away.push(name));
      const check = async () => {
        const headers = { ":method": "POST", ":path": CHECK.path, "content-type": "application/grpc" };
        const stream = session.request(headers);
        stream.on("trailers", (trailers) => statuses.add(trailers["grpc-status"]));
        stream.resume().end(frame(CHECK.encodeRequest({})));
        await withTimeout("the end of the call", once(stream, "close"));
      };
      await check();
      return { server, check };
    };
    const [busy, quiet] = [await start("busy"), await start("quiet")];
    const drained = [busy.server.drain(20_000), quiet.server.drain(20_000)];
    const load = runLoad(4, async () => {
      await busy.check().catch((error: unknown) => {
        // Once it is sent away, Node's client breaks off what it was about to send.
        if (!away.includes("busy")) throw error;
      });
    });
    await waitFor("the busy one to be sent away", () => away.includes("busy"));
    await load.stop();
    expect(away).toEqual(["quiet", "busy"]);
    expect([...statuses]).toEqual(["0"]);
    await withTimeout("the drains", Promise.all(drained));
    await Promise.all([busy.server.close(), quiet.server.close()]);
  });

  it("replaces a socket file that nobody listens on, and no other file", async () => {
    const socketPath = `${stack.sockets[0]}.stale`;
    const other = createServer().listen(`${socketPath}.before`);
    await once(other, "listening");
    await rename(`${socketPath}.before`, socketPath);
    const options = { transport, handlers: new PassingHandlers(), maxMessageBytes: 1024 };
    const server = await createEnvoyServer({ ...options, address: { socketPath } });
    await expect(server.listen()).rejects.toThrow("in use by another process");
    other.close();
    await once(other, "close");
    await server.listen();
    await server.close();
    const file = `${socketPath}.file`;
    await writeFile(file, "");
    const misled = await createEnvoyServer({ ...options, address: { socketPath: file } });
    await expect(misled.listen()).rejects.toThrow("is not a socket");
  });
});

async function isRefused(socketPath: string): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const socket = connectSocket(socketPath);
    socket.once("connect", () => resolve(false)).once("error", () => resolve(true));
    socket.once("connect", () => socket.destroy());
  });
}
