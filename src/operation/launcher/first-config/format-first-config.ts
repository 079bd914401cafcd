import type { ModelServer } from "../../../shared/model-servers/presets.ts";
import type { NamedModel } from "./name-models.ts";

/**
 * Used if a server does not report it: larger than most, so that strict caps reserve too much rather than too
 * little.
 */
export const UNKNOWN_CONTEXT_WINDOW = 131_072;

export interface FirstConfig {
  readonly baseUrl: string;
  readonly name: string;
  readonly origin: string;
  readonly pathPrefix: string;
  /** Kind of server; null: unknown. */
  readonly server: ModelServer | null;
  readonly keyVariable: string | null;
  readonly models: readonly NamedModel[];
  readonly host: string;
  readonly ports: { readonly listen: number; readonly admin: number };
}

/** Formats the file, with marks where the user must set values. */
export function formatFirstConfig(config: FirstConfig): string {
  const { baseUrl, name, origin, pathPrefix, keyVariable, models, host, ports } = config;
  const server = config.server === null ? "" : `, server: ${config.server}`;
  const credential = keyVariable === null ? "" : `, credential: { env: ${keyVariable} }`;
  const lines = [
    `# Written by \`inference-gateway up --upstream\` from the models of ${baseUrl}; change it as you like.`,
    "# Start again with `inference-gateway up --config gateway.yaml`. Every field: docs/gateway-yaml.md.",
    `listen: { host: ${host}, port: ${ports.listen} }`,
    `admin: { host: ${host}, port: ${ports.admin} }`,
    "upstreams:",
    `  - { name: ${name}, url: ${quote(origin)}, path_prefix: ${quote(pathPrefix)}${server}${credential} }`,
    "catalog:",
    ...models.flatMap((model) => formatModel(model, name)),
  ];
  return `${lines.join("\n")}\n`;
}

function formatModel(
  { id, catalogId, alias, contextWindow, capabilities }: NamedModel,
  upstream: string,
): string[] {
  const window = contextWindow ?? UNKNOWN_CONTEXT_WINDOW;
  const note = contextWindow === null ? " # the server doesn't list it: set it" : "";
  const embeds = capabilities?.includes("embeddings") ?? /embed/i.test(id);
  return [
    `  - id: ${quote(catalogId)}`,
    ...(alias === null ? [] : [`    aliases: [${quote(alias)}]`]),
    `    upstream: ${upstream}`,
    `    upstream_model: ${quote(id)}`,
    `    context_window: ${window}${note}`,
    ...(embeds
      ? [`    capabilities: [embeddings]${capabilities === null ? " # by its name" : ""}`]
      : [`    max_output_tokens: ${window}`, formatCapabilities(capabilities)]),
    "    # Set the prices per million tokens. At 0, requests don't count toward budgets and caps.",
    `    prices: { USD: { input: "0"${embeds ? "" : ', output: "0"'} } }`,
  ];
}

function formatCapabilities(capabilities: readonly string[] | null): string {
  if (capabilities === null) return "    # capabilities: [tools, vision, reasoning, json_schema]";
  return `    capabilities: [${capabilities.join(", ")}] # as the server lists them`;
}

/** JSON strings are valid YAML. */
function quote(text: string): string {
  return JSON.stringify(text);
}
