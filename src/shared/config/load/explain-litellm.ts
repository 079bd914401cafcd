/**
 * Explains a LiteLLM configuration that was passed as `gateway.yaml`: describes the equivalent of each model,
 * instead of "unknown field". Keys in the file are never repeated.
 */
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import type { ConfigProblem } from "../config-error.ts";
import { findLiteLlmGaps } from "./find-litellm-gaps.ts";
import { problemAt } from "./issues.ts";
import type { YamlSource } from "./yaml-source.ts";

const HEADING =
  "this is a LiteLLM configuration: each server of `model_list` becomes an entry of `upstreams`, and each model one of " +
  "`catalog`, as below. `prices` are per million tokens. Create API keys with their caps and budgets on the dashboard. " +
  "See docs/migrate-litellm.md";

interface KnownServer {
  /** Address if `api_base` is missing. */
  readonly origin: string;
  /** Path after the host, regardless of `api_base`: LiteLLM adds its own. Omitted: from `api_base`. */
  readonly prefix?: string;
  readonly more: string;
  readonly credential: string;
}

const AZURE: KnownServer = {
  origin: "https://RESOURCE.openai.azure.com",
  // Azure's API without `api-version`; deployments are used like model names.
  prefix: "/openai/v1",
  more: "",
  credential: "env: AZURE_API_KEY, header: api-key",
};

/** Servers that LiteLLM identifies by name only. */
const SERVERS: Readonly<Record<string, KnownServer>> = {
  openai: { origin: "https://api.openai.com", more: "", credential: "env: OPENAI_API_KEY" },
  anthropic: {
    origin: "https://api.anthropic.com",
    more: ", protocols: [messages]",
    credential: "env: ANTHROPIC_API_KEY, header: x-api-key",
  },
  azure: AZURE,
  azure_ai: {
    ...AZURE,
    origin: "https://RESOURCE.services.ai.azure.com",
    credential: "env: AZURE_AI_API_KEY, header: api-key",
  },
  mistral: { origin: "https://api.mistral.ai", more: "", credential: "env: MISTRAL_API_KEY" },
};
/** Providers that only name the protocol of a self-hosted server. */
const DIALECTS: ReadonlySet<string> = new Set([
  "openai",
  "hosted_vllm",
  "openai_like",
  "custom_openai",
  "litellm_proxy",
]);

/** Returns null if it is not a LiteLLM configuration, otherwise all explanations. */
export function explainLiteLlm(source: YamlSource): readonly ConfigProblem[] | null {
  const { value } = source;
  if (!isJsonObject(value) || !Array.isArray(value["model_list"])) return null;
  const entries = value["model_list"].map((entry: unknown, index) => {
    const mapped = isJsonObject(entry) ? mapEntry(entry) : null;
    return problemAt(
      source,
      ["model_list", index],
      mapped ?? "without `model_name` and `litellm_params.model`",
    );
  });
  return [problemAt(source, ["model_list"], HEADING), ...entries, ...findLiteLlmGaps(source)];
}

/** Returns "upstreams: {name: …}; catalog: {id: …}"; null if the entry lacks information. */
function mapEntry(entry: JsonObject): string | null {
  const { model_name: name, litellm_params: given } = entry;
  const params = isJsonObject(given) ? given : {};
  const { model } = params;
  if (typeof name !== "string" || typeof model !== "string") return null;
  const [provider = "", ...rest] = model.split("/");
  const upstreamModel = rest.length === 0 ? model : rest.join("/");
  const upstream = rest.length === 0 && !DIALECTS.has(provider) ? "openai" : provider;
  const place = describePlace(upstream, params);
  const id = `${slug(upstream)}/${slug(upstreamModel.split("/").at(-1) ?? "")}`;
  const alias = id === name ? "" : `, aliases: [${JSON.stringify(name)}]`;
  const catalog = `{id: ${id}${alias}, upstream: ${slug(upstream)}, upstream_model: ${JSON.stringify(upstreamModel)}${describeWindow(entry["model_info"])}, …}`;
  return `\`upstreams\`: ${place}; \`catalog\`: ${catalog}`;
}

/**
 * LiteLLM's `max_input_tokens` is the whole window, as providers publish it; `max_tokens` is an older name of
 * the output limit.
 */
function describeWindow(info: unknown): string {
  if (!isJsonObject(info)) return "";
  const { max_input_tokens: window, max_output_tokens: output = info["max_tokens"] } = info;
  const known = { context_window: window, max_output_tokens: output };
  return Object.entries(known)
    .filter(([, tokens]) => Number.isSafeInteger(tokens))
    .map(([name, tokens]) => `, ${name}: ${String(tokens)}`)
    .join("");
}

function describePlace(provider: string, params: JsonObject): string {
  const known = SERVERS[provider];
  const base = params["api_base"];
  const credential = describeCredential(params["api_key"], known?.credential ?? null);
  if (typeof base === "string" && URL.canParse(base)) {
    const { origin, pathname } = new URL(base);
    const prefix = known?.prefix ?? pathname.replace(/\/+$/, "");
    return `{name: ${slug(provider)}, url: "${origin}", path_prefix: "${prefix}"${credential}}`;
  }
  if (known !== undefined) {
    const prefix = known.prefix === undefined ? "" : `, path_prefix: "${known.prefix}"`;
    return `{name: ${provider}, url: "${known.origin}"${prefix}${known.more}${credential}}`;
  }
  return `one for \`${slug(provider)}\`, by the base URL of its OpenAI API${credential === "" ? "" : ` (${credential.slice(2)})`}`;
}

function describeCredential(key: unknown, usual: string | null): string {
  const named =
    typeof key === "string" ? /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(key)?.[1] : undefined;
  if (named === undefined && key !== undefined) return ", credential: {env: …}";
  if (named === undefined) return usual === null ? "" : `, credential: {${usual}}`;
  return `, credential: {${(usual ?? "env: X").replace(/env: \w+/, `env: ${named}`)}}`;
}

/** Converts a text to a valid part of an id or an upstream's name. */
function slug(text: string): string {
  return text.replace(/[^A-Za-z0-9._:-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "") || "model";
}
