/** One request after the other on kept connections, over HTTP/1.1 or HTTP/2; nothing is sent twice. */
import { Agent, request as startRequest } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import type { HttpVersion } from "./combinations.ts";

export interface PlainAnswer {
  readonly status: number;
  readonly text: string;
  /** False when it was cut off, or never came. */
  readonly isComplete: boolean;
}

export interface PlainClient {
  /** Never rejects. */
  post(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<PlainAnswer>;
  close(): void;
}

/** Nothing here takes so long: an answer that comes later has failed. */
const TIMEOUT_MS = 60_000;

export function createPlainClient(version: HttpVersion, baseUrl: string): PlainClient {
  return version === "HTTP/1.1" ? createHttp1Client(baseUrl) : createHttp2Client(baseUrl);
}

function createHttp1Client(baseUrl: string): PlainClient {
  const agent = new Agent({ keepAlive: true });
  return {
    close: () => agent.destroy(),
    post: (path, headers, body) =>
      new Promise((resolve) => {
        const all = { ...headers, "content-length": Buffer.byteLength(body) };
        const request = startRequest(new URL(path, baseUrl), { method: "POST", headers: all, agent });
        request.setTimeout(TIMEOUT_MS, () => request.destroy(new Error("silent")));
        request.on("error", (error) => resolve({ status: 0, text: String(error), isComplete: false }));
        request.on("response", (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => {
            text += piece;
          });
          response.on("error", () => undefined);
          response.on("close", () =>
            resolve({ status: response.statusCode ?? 0, text, isComplete: response.complete }),
          );
        });
        request.end(body);
      }),
  };
}

function createHttp2Client(baseUrl: string): PlainClient {
  let session: ClientHttp2Session | null = null;
  const use = (): ClientHttp2Session => {
    if (session === null || session.closed || session.destroyed) {
      session = connect(baseUrl);
      session.on("error", () => undefined);
    }
    return session;
  };
  return {
    close: () => session?.destroy(),
    post: (path, headers, body) =>
      new Promise((resolve) => {
        const all = { ...headers, "content-length": Buffer.byteLength(body) };
        const stream = use().request({ ":method": "POST", ":path": path, ...all });
        let status = 0;
        let text = "";
        let isComplete = false;
        stream.setTimeout(TIMEOUT_MS, () => stream.close());
        stream.on("response", (answered) => {
          status = answered[":status"] ?? 0;
        });
        stream.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        stream.on("end", () => {
          isComplete = status !== 0;
        });
        stream.on("error", (error) => {
          text += ` ${String(error)}`;
        });
        stream.on("close", () => resolve({ status, text, isComplete: isComplete && stream.rstCode === 0 }));
        stream.end(body);
      }),
  };
}
