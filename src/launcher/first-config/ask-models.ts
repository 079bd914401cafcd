/**
 * What a model server says of its models, by `GET {base URL}/models` as OpenAI's API has it. Every way in which that
 * can fail is one sentence for the person who has just typed the URL.
 */
import { isJsonObject } from "../../json-object.ts";
import { LaunchError } from "../launch-error.ts";

/** For connection and answer together: somebody waits for it. */
const TIMEOUT_MS = 10_000;
/** Catalogs of the large providers have 1 MiB. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_SHOWN_CHARACTERS = 80;

/** One model, as its server tells of it. */
export interface ServerModel {
  readonly id: string;
  /** Tokens; null where the server does not say. */
  readonly contextWindow: number | null;
}

export interface ModelServer {
  /** Without a slash at its end: "http://127.0.0.1:8000/v1". */
  readonly baseUrl: string;
  /** The environment variable with its key; null: it needs none. */
  readonly keyVariable: string | null;
}

/**
 * The models of a server, none twice, and what else stands in its list.
 * @throws LaunchError in one sentence: no connection, a key that is missing or refused, an answer that is no list.
 */
export async function askModels(
  { baseUrl, keyVariable }: ModelServer,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ models: readonly ServerModel[]; strange: readonly string[] }> {
  const url = `${baseUrl}/models`;
  const text = await fetchText(url, { keyVariable, key: readKey(keyVariable, env) });
  const list = readList(url, text);
  const models = new Map<string, ServerModel>();
  const strange: string[] = [];
  for (const entry of list) {
    const model = readModel(entry);
    if (model === null) strange.push(show(isJsonObject(entry) && "id" in entry ? entry["id"] : entry));
    else models.set(model.id, model);
  }
  return { models: [...models.values()], strange };
}

function readKey(variable: string | null, env: NodeJS.ProcessEnv): string | null {
  if (variable === null) return null;
  const key = env[variable] ?? "";
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const problem = key === "" ? "is not set" : "has characters that no key has";
  throw new LaunchError(`The environment variable ${variable} of \`--upstream-key-env\` ${problem}.`);
}

interface Key {
  readonly keyVariable: string | null;
  readonly key: string | null;
}

async function fetchText(url: string, { keyVariable, key }: Key): Promise<string> {
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json", ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) throw new LaunchError(explainStatus(url, response.status, keyVariable));
    return await readBounded(url, response);
  } catch (error) {
    if (error instanceof LaunchError) throw error;
    throw new LaunchError(
      `${url} does not answer (${explainFailure(error)}): is the model server running there?`,
    );
  }
}

function explainStatus(url: string, status: number, keyVariable: string | null): string {
  if (status === 401 || status === 403) {
    return keyVariable === null
      ? `${url} answers ${status}, it needs a key: put it into an environment variable and name that by \`--upstream-key-env NAME\`.`
      : `${url} answers ${status}: it refuses the key in the environment variable ${keyVariable}.`;
  }
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
      throw new LaunchError(
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

function readList(url: string, text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LaunchError(
      `${url} answers with something that is not JSON: is it the base URL of an OpenAI API?`,
    );
  }
  const list = isJsonObject(value) ? value["data"] : value;
  if (!Array.isArray(list)) {
    throw new LaunchError(
      `${url} answers with JSON that is no list of models: is it the base URL of an OpenAI API?`,
    );
  }
  if (list.length === 0) throw new LaunchError(`${url} lists no models: load one there, then start again.`);
  return list;
}

/** Where servers say how much a model takes: vLLM and SGLang, OpenRouter and LM Studio, Mistral, llama.cpp. */
const CONTEXT_FIELDS = ["max_model_len", "context_length", "max_context_length", "context_window"];

function readModel(entry: unknown): ServerModel | null {
  if (!isJsonObject(entry)) return null;
  const { id, meta } = entry;
  if (typeof id !== "string" || !/^[\x21-\x7e]{1,200}$/.test(id)) return null;
  const trained = isJsonObject(meta) ? meta["n_ctx_train"] : undefined;
  const told = [...CONTEXT_FIELDS.map((field) => entry[field]), trained].find(isTokenCount);
  return { id, contextWindow: told ?? null };
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= 100_000_000;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
