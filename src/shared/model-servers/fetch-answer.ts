/** One question to a model server. Every way in which it can fail is one sentence for the person who has just typed its URL. */
import { setTimeout } from "node:timers/promises";

/** For connection and answer together: somebody waits for it. */
const TIMEOUT_MS = 10_000;
/** A server that loads its model says 503 meanwhile. */
const LOADING = { status: 503, waitMs: 1_000, tries: 300 };
/** Catalogs of the large providers have 1 MiB. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Who asks. */
export interface Asker {
  /** With the server's credential, where it wants one. */
  readonly headers: Readonly<Record<string, string>>;
  /** How to put right what is wrong with the credential. */
  readonly explainRefusal: (url: string, status: number) => string;
}

/** What is wrong, in one sentence. */
export class AskError extends Error {
  override readonly name: string = "AskError";
}

class LoadingError extends AskError {}

/** As `fetchText`, of a server that may be loading its model still: with `onLoading` it is waited for. */
export async function fetchLoaded(
  url: string,
  asker: Asker,
  onLoading: (() => void) | null,
): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await fetchText(url, asker);
    } catch (error) {
      if (!(error instanceof LoadingError) || onLoading === null || tries === LOADING.tries) throw error;
      if (tries === 1) onLoading();
      await setTimeout(LOADING.waitMs);
    }
  }
}

/**
 * @param question Posted as JSON; left out: there is nothing to ask but the URL.
 * @throws AskError
 */
export async function fetchText(url: string, asker: Asker, question?: object): Promise<string> {
  try {
    const response = await fetch(url, {
      headers: {
        accept: "application/json",
        ...asker.headers,
        ...(question === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(question === undefined ? {} : { method: "POST", body: JSON.stringify(question) }),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === LOADING.status) {
      throw new LoadingError(`${url} answers 503: its model is still being loaded, or it cannot serve.`);
    }
    if (response.status !== 200) throw new AskError(explainStatus(url, response.status, asker));
    return await readBounded(url, response);
  } catch (error) {
    if (error instanceof AskError) throw error;
    throw new AskError(
      `${url} does not answer (${explainFailure(error)}): is the model server running there?`,
    );
  }
}

function explainStatus(url: string, status: number, { explainRefusal }: Asker): string {
  if (status === 401 || status === 403) return explainRefusal(url, status);
  const hint =
    status === 404
      ? ": give the base URL of its OpenAI API, which mostly ends in /v1"
      : ", and not with its models";
  return `${url} answers ${status}${hint}.`;
}

async function readBounded(url: string, response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new AskError(
        `${url} answers with more than ${MAX_ANSWER_BYTES / 1024 ** 2} MiB: that is no list of models.`,
      );
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** "connect ECONNREFUSED 127.0.0.1:8000" rather than "fetch failed". */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `nothing in ${TIMEOUT_MS / 1000} s`;
  const cause = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}

/** Undefined: it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
