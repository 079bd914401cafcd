/**
 * Lists the models of a model server, by `GET {base URL}/models` of OpenAI's API. Every failure is one
 * sentence for the person who has just typed the URL.
 */
import { isJsonObject } from "../text/json-object.ts";
import { askOllama } from "./ask-ollama.ts";
import { AskError, type ServerAccess, fetchLoaded, parseJson } from "./fetch-answer.ts";
import { findModelServer, type ModelServer } from "./presets.ts";
import { isTokenCount, type ServerModel } from "./server-model.ts";

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
 * @throws AskError in one sentence: no connection, a missing or rejected key, a response that is not a list.
 */
export async function askModels(
  baseUrl: string,
  asker: ServerAccess,
  onLoading: (() => void) | null = null,
): Promise<ServerModels> {
  const url = `${baseUrl}/models`;
  const list = readList(url, await fetchLoaded(url, asker, onLoading));
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
  return { models: await askOllama(baseUrl, asker, found), strange, server };
}

/** Detects the kind of server from the models' owner, which must be the same for all. */
function readServer(list: readonly unknown[]): ModelServer | null {
  const owners = new Set(list.map((entry) => (isJsonObject(entry) ? entry["owned_by"] : undefined)));
  return owners.size === 1 ? findModelServer([...owners][0]) : null;
}

function readList(url: string, text: string): readonly unknown[] {
  const value = parseJson(text);
  if (value === undefined) {
    throw new AskError(`${url} didn't return JSON: is it the base URL of an OpenAI API?`);
  }
  const list = isJsonObject(value) ? value["data"] : value;
  if (!Array.isArray(list)) {
    throw new AskError(`${url} returned JSON without a list of models: is it the base URL of an OpenAI API?`);
  }
  if (list.length === 0) {
    throw new AskError(`${url} lists no models: load a model on that server, then start again.`);
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
