import { AdminError } from "../admin-error.ts";

/** 1 MiB: the largest body that anybody needs is a list of a few hundred model ids. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Fields and list elements, at any depth: the largest valid body has fewer than 500. */
const MAX_VALUES = 2_000;

/**
 * The JSON object of a request's body; undefined when the body is empty.
 * @throws AdminError 400 `invalid_json`, 400 `invalid_parameter` for too many values, 413 `request_too_large`,
 *   415 `unsupported_media_type`.
 */
export async function readJsonBody(request: Request): Promise<object | undefined> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") throw new AdminError("unsupported_media_type");
  const bytes = await readBytes(request);
  if (bytes.length === 0) return undefined;
  const value = parseJson(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AdminError("invalid_json");
  }
  if (hasMoreValues(value, MAX_VALUES)) {
    const message = `The request body has more than ${MAX_VALUES} fields and list elements. Send fewer.`;
    throw new AdminError("invalid_parameter", { message, param: "body" });
  }
  return value;
}

/** Whether there are more fields and list elements than `most`; looks no further than that. */
function hasMoreValues(value: object, most: number): boolean {
  const pending: object[] = [value];
  let count = 0;
  for (let inner = pending.pop(); inner !== undefined; inner = pending.pop()) {
    const values: readonly unknown[] = Object.values(inner);
    count += values.length;
    if (count > most) return true;
    for (const one of values) if (typeof one === "object" && one !== null) pending.push(one);
  }
  return false;
}

async function readBytes(request: Request): Promise<Buffer> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Named: the DOM's type of a stream is not iterable, Node's is.
  const body: AsyncIterable<Uint8Array> | null = request.body as AsyncIterable<Uint8Array> | null;
  if (body === null) return Buffer.alloc(0);
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The rest of the body is not read, so the connection cannot be used again. */
function tooLarge(): AdminError {
  return new AdminError("request_too_large", { headers: { connection: "close" } });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    const where = cause instanceof SyntaxError ? describePosition(cause) : "";
    throw new AdminError("invalid_json", {
      cause,
      message: `The request body is not valid JSON in UTF-8${where}.`,
    });
  }
}

/** V8 names the place and a piece of the body; only the place is told, the body may hold a secret. */
function describePosition(error: SyntaxError): string {
  const position = /at position (\d+)/.exec(error.message)?.[1];
  return position === undefined ? "" : ` (at byte ${position})`;
}
