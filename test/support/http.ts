/** A plain HTTP client that changes nothing: paths, header names and body bytes leave as the test wrote them. */
import { type Agent, type IncomingMessage, request as startRequest } from "node:http";

export interface SendOptions {
  readonly method?: string;
  /** As it goes into the request line: "//v1/models", "/v1/models/acme%2Fecho". */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Objects are sent as JSON, with the content type; bytes and strings as they stand. */
  readonly body?: object | string | Uint8Array;
  /** Sends the body chunked, without a content-length, in these pieces. */
  readonly chunks?: readonly (string | Uint8Array)[];
  readonly agent?: Agent;
  /** Default 60 s without a byte. */
  readonly timeoutMs?: number;
  /** Called with each piece of the answer; returning "abort" closes the connection. */
  readonly onData?: (chunk: Buffer, soFar: () => Buffer) => "abort" | void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly text: string;
  /** False when the connection was cut before the body's end. */
  readonly complete: boolean;
  /** Parses the body; throws when it is not JSON. */
  json(): Record<string, unknown>;
}

/** `error` of an error body. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly request_id: string | null;
  readonly [field: string]: unknown;
}

/**
 * One request to `baseUrl` ("http://127.0.0.1:10000").
 * @throws the socket's error when there is no answer at all.
 */
export function send(baseUrl: string, options: SendOptions): Promise<HttpAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const { headers, body } = formatBody(options);
  return new Promise((resolve, reject) => {
    const request = startRequest({
      hostname,
      port,
      path: options.path,
      method: options.method ?? (body === undefined && options.chunks === undefined ? "GET" : "POST"),
      headers: headers as Record<string, string>,
      agent: options.agent,
      timeout: options.timeoutMs ?? 240_000,
    });
    request.on("timeout", () => request.destroy(new Error(`no byte of ${options.path} in time`)));
    request.on("error", reject);
    request.on("response", (response) => {
      collect(request, response, options, resolve);
    });
    if (options.chunks === undefined) {
      request.end(body);
      return;
    }
    for (const chunk of options.chunks) request.write(chunk);
    request.end();
  });
}

function collect(
  request: ReturnType<typeof startRequest>,
  response: IncomingMessage,
  options: SendOptions,
  resolve: (answer: HttpAnswer) => void,
): void {
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    if (options.onData?.(chunk, () => Buffer.concat(chunks)) === "abort") request.destroy();
  });
  // A cut body is a result of its own, not a failure of the test.
  response.on("error", () => undefined);
  response.on("close", () => {
    const bytes = Buffer.concat(chunks);
    resolve({
      status: response.statusCode ?? 0,
      headers: response.headers,
      rawHeaders: response.rawHeaders,
      bytes,
      text: bytes.toString("utf8"),
      complete: response.complete,
      json: () => JSON.parse(bytes.toString("utf8")) as Record<string, unknown>,
    });
  });
}

function formatBody(options: SendOptions): {
  headers: Record<string, string | readonly string[]>;
  body: string | Uint8Array | undefined;
} {
  const headers: Record<string, string | readonly string[]> = { ...options.headers };
  if (options.body === undefined) return { headers, body: undefined };
  const isRaw = typeof options.body === "string" || options.body instanceof Uint8Array;
  const body = isRaw ? options.body : JSON.stringify(options.body);
  headers["content-length"] = String(Buffer.byteLength(body));
  if (!("content-type" in headers)) headers["content-type"] = "application/json";
  return { headers, body };
}

/** The error object of an answer; throws when there is none. */
export function readError(answer: HttpAnswer): ErrorBody {
  const { error } = answer.json();
  if (typeof error !== "object" || error === null) throw new Error(`no error in: ${answer.text}`);
  return error as ErrorBody;
}

/** The data of each SSE event, `[DONE]` left as text. */
export function readEvents(text: string): unknown[] {
  const events: unknown[] = [];
  for (const block of text.split(/\r?\n\r?\n/u)) {
    const data = block
      .split(/\r?\n/u)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n");
    if (data === "") continue;
    events.push(data === "[DONE]" ? data : (JSON.parse(data) as unknown));
  }
  return events;
}
