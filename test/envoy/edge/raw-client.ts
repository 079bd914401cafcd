import { connect } from "node:net";
import type { Socket } from "node:net";

/** A response as it came over the wire; header names in lower case. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const RESPONSE_TIMEOUT_MS = 20_000;

/**
 * Sends bytes exactly as given and reads one response. For requests that no HTTP client would send.
 * @throws Error when the connection ends without a response.
 */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawResponse> {
  const socket = connect(port, "127.0.0.1");
  try {
    socket.write(bytes);
    return await readResponse(socket);
  } finally {
    socket.destroy();
  }
}

/** An HTTP/1.1 request in the usual form. */
export async function send(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = "",
): Promise<RawResponse> {
  const all: Record<string, string> = { host: "gateway.example", ...headers };
  if (body !== "") all["content-length"] = String(Buffer.byteLength(body));
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return sendRaw(port, `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
}

/** The beginning of a request whose last bytes come when the test says so. */
export interface Upload {
  /** Sends the rest and reads the response. */
  finish(): Promise<RawResponse>;
}

/** Sends a whole request, as bytes, but for its last byte. */
export function startUpload(port: number, bytes: string): Upload {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes.slice(0, -1));
  return {
    async finish() {
      try {
        socket.write(bytes.slice(-1));
        return await readResponse(socket);
      } finally {
        socket.destroy();
      }
    },
  };
}

async function readResponse(socket: Socket): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const finish = (isOver: boolean): void => {
      const response = parseResponse(received, isOver);
      if (response !== null) resolve(response);
      else if (isOver) {
        reject(new Error(`connection ended after ${received.length} bytes: ${received.toString()}`));
      }
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      finish(false);
    });
    socket.on("error", (error) => {
      finish(true);
      reject(error);
    });
    socket.on("close", () => finish(true));
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => reject(new Error("no response in time")));
  });
}

/** Null while the response is not complete. */
function parseResponse(bytes: Buffer, isOver: boolean): RawResponse | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString().split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const status = Number(statusLine.split(" ")[1]);
  if (status === 100) return parseResponse(bytes.subarray(end + 4), isOver);
  const rest = bytes.subarray(end + 4);
  const length = headers["content-length"];
  const isWhole = length === undefined ? rest.includes("0\r\n\r\n") : rest.length >= Number(length);
  if (!isWhole && !isOver) return null;
  const body = length === undefined && headers["transfer-encoding"] === "chunked" ? joinChunks(rest) : rest;
  return { status, headers, body: body.toString() };
}

function joinChunks(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString(), 16);
    if (lineEnd === -1 || !(size > 0)) break;
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(parts);
}
