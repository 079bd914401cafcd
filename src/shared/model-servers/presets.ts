/**
 * Presets of known model servers: how each differs from the defaults, so that `server: ollama` on an upstream
 * is enough. Explicit fields in `gateway.yaml` take precedence. docs/gateway-yaml.md has the table.
 */
import { isJsonObject, type JsonObject } from "../text/json-object.ts";

/** Fields as in the file. */
export interface ModelServerPreset {
  /** Its name for people. */
  readonly title: string;
  /** `owned_by` of its entries in the list of models; null: cannot be recognized by it. */
  readonly ownedBy: string | null;
  /** Fields of `upstreams[]`; the default protocol is chat. */
  readonly upstream: JsonObject;
  /** Fields of `catalog[].profile`, for each of its models. */
  readonly profile: JsonObject;
}

export const MODEL_SERVERS = {
  "llama.cpp": {
    title: "llama.cpp's `llama-server`",
    ownedBy: "llamacpp",
    // Its own messages and responses ignore schemas, so only chat (the default) is used. It closes its
    // connections after a stream.
    upstream: { connection_reuse: false },
    profile: { max_tokens_field: "max_tokens" },
  },
  ollama: {
    title: "Ollama",
    ownedBy: "library",
    upstream: {},
    profile: { max_tokens_field: "max_tokens", reasoning_efforts: [] },
  },
  vllm: {
    title: "vLLM",
    ownedBy: "vllm",
    upstream: { protocols: ["chat", "messages", "responses"] },
    profile: { continuous_usage: true, prefill: "vllm", reasoning_history: "reasoning" },
  },
  sglang: {
    title: "SGLang",
    ownedBy: "sglang",
    upstream: {},
    profile: { continuous_usage: true },
  },
  transformers: {
    title: "`transformers serve`",
    ownedBy: null,
    upstream: {},
    // Rejects unknown fields.
    profile: {
      max_tokens_field: "max_tokens",
      top_k: "drop",
      reasoning_efforts: [],
      reasoning_history: "drop",
    },
  },
  litellm: {
    title: "LiteLLM's proxy",
    ownedBy: null,
    upstream: {},
    profile: { max_tokens_field: "max_tokens" },
  },
  deepseek: {
    title: "DeepSeek's API",
    ownedBy: "deepseek",
    upstream: {},
    profile: { max_tokens_field: "max_tokens", reasoning_history: "reasoning_content_always" },
  },
  lmstudio: {
    title: "LM Studio",
    ownedBy: "organization_owner",
    upstream: {},
    profile: { max_tokens_field: "max_tokens", reasoning_efforts: [] },
  },
  tgi: {
    title: "Text Generation Inference",
    ownedBy: null,
    upstream: {},
    profile: { max_tokens_field: "max_tokens", reasoning_efforts: [], max_stop: 4 },
  },
} as const satisfies Readonly<Record<string, ModelServerPreset>>;

export type ModelServer = keyof typeof MODEL_SERVERS;

export const MODEL_SERVER_NAMES = Object.keys(MODEL_SERVERS) as [ModelServer, ...ModelServer[]];

function isModelServer(name: unknown): name is ModelServer {
  return typeof name === "string" && Object.hasOwn(MODEL_SERVERS, name);
}

/** Returns the server whose models have this `owned_by`; null if unknown. */
export function findModelServer(ownedBy: unknown): ModelServer | null {
  return (
    MODEL_SERVER_NAMES.find((name) => MODEL_SERVERS[name].ownedBy === ownedBy && ownedBy !== null) ?? null
  );
}

/** Returns the file with all `server` presets expanded. Accepts any input: the schema is applied later. */
export function writeOutServers(file: unknown): unknown {
  if (!isJsonObject(file)) return file;
  const { upstreams, catalog } = file;
  if (!Array.isArray(upstreams) || !Array.isArray(catalog)) return file;
  const servers = new Map<unknown, ModelServerPreset>();
  const writtenOut = upstreams.map((upstream: unknown) => {
    if (!isJsonObject(upstream) || !isModelServer(upstream["server"])) return upstream;
    const preset = MODEL_SERVERS[upstream["server"]];
    servers.set(upstream["name"], preset);
    return { ...preset.upstream, ...upstream };
  });
  const models = catalog.map((model: unknown) => {
    const preset = isJsonObject(model) ? servers.get(model["upstream"]) : undefined;
    if (!isJsonObject(model) || preset === undefined) return model;
    const { profile = {} } = model;
    return isJsonObject(profile) ? { ...model, profile: { ...preset.profile, ...profile } } : model;
  });
  return { ...file, upstreams: writtenOut, catalog: models };
}
