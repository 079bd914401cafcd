/** Maximum size of a provider's response: its keys, tokens, or user info. */
const MAX_ANSWER_BYTES = 1024 * 1024;

interface RequestOptions {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Like `fetch`, with a bounded response that is read completely.
 * @throws TypeError like `fetch`, and for a response that is too long.
 */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const { method, headers, body, signal } = options as RequestOptions;
  const answer = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined || body === null ? {} : { body: body as URLSearchParams }),
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Typed explicitly: the DOM's type of a stream is not iterable, Node's is.
  const stream = answer.body as AsyncIterable<Uint8Array> | null;
  for await (const chunk of stream ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new TypeError(`the response has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, statusText, headers: answered } = answer;
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, statusText, headers: answered });
}
