/**
 * Lists the models of a model server, by `GET {base URL}/models` of OpenAI's API. Every failure is one
 * sentence for the person who has just typed the URL.
 */
import { isJsonObject, toArray } from "../text/json-object.ts";
import { FetchError, type ServerAccess, fetchLoaded, parseJson, fetchText } from "./fetch-answer.ts";
import { findModelServer, type ModelServer } from "./presets.ts";
import { isTokenCount, type ServerModel } from "./server-model.ts";

/** Adds the details that Ollama reports; others stay unknown. */
async function readOllamaModels(
  baseUrl: string,
  access: ServerAccess,
  models: readonly ServerModel[],
): Promise<readonly ServerModel[]> {
  const url = `${new URL(baseUrl).origin}/api/show`;
  const described: ServerModel[] = [];
  for (const model of models) {
    const shown = await fetchText(url, access, { model: model.id }).catch(() => "{}");
    described.push({ ...model, ...readOllamaModel(shown) });
  }
  return described;
}

/** Ollama's names of capabilities that the catalog calls otherwise. */
const OLLAMA_CAPABILITIES: Readonly<Record<string, string>> = {
  tools: "tools",
  vision: "vision",
  thinking: "reasoning",
  embedding: "embeddings",
};

function readOllamaModel(text: string): Partial<ServerModel> {
  const shown = parseJson(text);
  if (!isJsonObject(shown)) return {};
  const { model_info: info, capabilities } = shown;
  const window = isJsonObject(info)
    ? Object.entries(info).find(([name]) => name.endsWith(".context_length"))?.[1]
    : undefined;
  const known = toArray(capabilities).flatMap((one) => OLLAMA_CAPABILITIES[String(one)] ?? []);
  return {
    ...(isTokenCount(window) && { contextWindow: window }),
    ...(Array.isArray(capabilities) && { capabilities: known }),
  };
}

const MAX_SHOWN_CHARACTERS = 80;

export interface ServerModels {
  readonly models: readonly ServerModel[];
  /** Other entries of the list. */
  readonly strange: readonly string[];
  /** Kind of server by its own description; null: unknown. */
  readonly server: ModelServer | null;
}

/**
 * Lists the models of a server without duplicates.
 * @param baseUrl Without a final slash: "http://127.0.0.1:8000/v1".
 * @param onLoading Called once if the server is loading its model, which is then awaited; null: don't wait.
 * @throws FetchError in one sentence: no connection, a missing or rejected key, a response that is not a list.
 */
export async function readModels(
  baseUrl: string,
  access: ServerAccess,
  onLoading: (() => void) | null = null,
): Promise<ServerModels> {
  const url = `${baseUrl}/models`;
  const list = readList(url, await fetchLoaded(url, access, onLoading));
  const models = new Map<string, ServerModel>();
  const strange: string[] = [];
  for (const entry of list) {
    const model = readModel(entry);
    if (model === null) strange.push(show(isJsonObject(entry) && "id" in entry ? entry["id"] : entry));
    else models.set(model.id, model);
  }
  const server = readServer(list);
  const found = [...models.values()];
  if (server !== "ollama") return { models: found, strange, server };
  return { models: await readOllamaModels(baseUrl, access, found), strange, server };
}

/** Detects the kind of server from the models' owner, which must be the same for all. */
function readServer(list: readonly unknown[]): ModelServer | null {
  const owners = new Set(list.map((entry) => (isJsonObject(entry) ? entry["owned_by"] : undefined)));
  return owners.size === 1 ? findModelServer([...owners][0]) : null;
}

function readList(url: string, text: string): readonly unknown[] {
  const value = parseJson(text);
  if (value === undefined) {
    throw new FetchError(`${url} didn't return JSON: is it the base URL of an OpenAI API?`);
  }
  const list = isJsonObject(value) ? value["data"] : value;
  if (!Array.isArray(list)) {
    throw new FetchError(
      `${url} returned JSON without a list of models: is it the base URL of an OpenAI API?`,
    );
  }
  if (list.length === 0) {
    throw new FetchError(`${url} lists no models: load a model on that server, then start again.`);
  }
  return list;
}

/** Names of the context window: vLLM and SGLang, OpenRouter and LM Studio, Mistral, llama.cpp. */
const CONTEXT_FIELDS = ["max_model_len", "context_length", "max_context_length", "context_window"];

function readModel(entry: unknown): ServerModel | null {
  if (!isJsonObject(entry)) return null;
  const { id, meta } = entry;
  if (typeof id !== "string" || !/^[\x21-\x7e]{1,200}$/.test(id)) return null;
  // Value with which the server was started, otherwise the model's maximum.
  const loaded = isJsonObject(meta) ? [meta["n_ctx"], meta["n_ctx_train"]] : [];
  const contextWindow = [...CONTEXT_FIELDS.map((field) => entry[field]), ...loaded].find(isTokenCount);
  return { id, contextWindow: contextWindow ?? null, capabilities: null };
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
