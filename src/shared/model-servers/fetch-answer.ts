/** One request to a model server. Every failure is one sentence for the person who has just typed its URL. */
import { setTimeout } from "node:timers/promises";

/** Timeout for connection and response together: a person is waiting. */
const TIMEOUT_MS = 10_000;
/** A server that is loading its model returns 503. */
const LOADING = { status: 503, waitMs: 1_000, tries: 300 };
/** Catalogs of large providers have 1 MiB. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Caller of a model server. */
export interface ServerAccess {
  /** Headers with the server's credential, if needed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns how to correct a rejected credential. */
  readonly explainRefusal: (url: string, status: number) => string;
}

/** Error in one sentence. */
export class FetchError extends Error {
  override readonly name: string = "FetchError";
}

class LoadingError extends FetchError {}

/** Like `fetchText`, but with `onLoading` it waits for a server that is loading its model. */
export async function fetchLoaded(
  url: string,
  access: ServerAccess,
  onLoading: (() => void) | null,
): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await fetchText(url, access);
    } catch (error) {
      if (!(error instanceof LoadingError) || onLoading === null || tries === LOADING.tries) throw error;
      if (tries === 1) onLoading();
      await setTimeout(LOADING.waitMs);
    }
  }
}

/**
 * @param question Body to post as JSON. Omitted: GET.
 * @throws FetchError
 */
export async function fetchText(url: string, access: ServerAccess, question?: object): Promise<string> {
  try {
    const response = await fetch(url, {
      headers: {
        accept: "application/json",
        ...access.headers,
        ...(question === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(question === undefined ? {} : { method: "POST", body: JSON.stringify(question) }),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === LOADING.status) {
      throw new LoadingError(`${url} returned 503: its model is still loading, or it can't serve.`);
    }
    if (response.status !== 200) throw new FetchError(explainStatus(url, response.status, access));
    return await readBounded(url, response);
  } catch (error) {
    if (error instanceof FetchError) throw error;
    throw new FetchError(
      `${url} doesn't respond (${explainFailure(error)}): is the model server running there?`,
    );
  }
}

function explainStatus(url: string, status: number, { explainRefusal }: ServerAccess): string {
  if (status === 401 || status === 403) return explainRefusal(url, status);
  const hint =
    status === 404 ? ": pass the base URL of its OpenAI API, which mostly ends in /v1" : ", not its models";
  return `${url} returned ${status}${hint}.`;
}

async function readBounded(url: string, response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new FetchError(
        `${url} returned more than ${MAX_ANSWER_BYTES / 1024 ** 2} MiB, which is no list of models.`,
      );
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Returns "connect ECONNREFUSED 127.0.0.1:8000" rather than "fetch failed". */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `nothing in ${TIMEOUT_MS / 1000} s`;
  const cause = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}

/** Parses JSON; undefined if invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
