/** Checks of model servers by their own information: kind, models, context windows. */
import type { Config, UpstreamConfig } from "../../shared/config/schema.ts";
import { formatHost } from "../../shared/host/local-url.ts";
import { readModels, type ServerModels } from "../../shared/model-servers/read-models.ts";
import { FetchError } from "../../shared/model-servers/fetch-answer.ts";
import { MODEL_SERVERS } from "../../shared/model-servers/presets.ts";
import { type DoctorFinding, found, ok } from "./finding.ts";

/** Number of models named in a fix. */
const MAX_NAMED = 5;

/**
 * No warning for a server without a list of models, or with signed requests.
 * @param isTrusted The user named the configuration, so its upstreams may get their credentials.
 */
export async function checkServers(
  config: Config,
  { isTrusted }: { readonly isTrusted: boolean },
): Promise<DoctorFinding[]> {
  const all = await Promise.all(
    config.upstreams.map(async (upstream) => {
      const isQueried = upstream.awsSigning === null && (isTrusted || upstream.credentials.length === 0);
      const reported = isQueried ? await readModelList(upstream) : null;
      return reported === null ? [] : judge(config, upstream, reported);
    }),
  );
  return all.flat();
}

/** Returns null if the server reports nothing. Another check covers reachability. */
async function readModelList({
  endpoints,
  pathPrefix,
  credentials,
}: UpstreamConfig): Promise<ServerModels | null> {
  const [first] = endpoints;
  if (first === undefined) return null;
  const origin = `${first.usesTls ? "https" : "http"}://${formatHost(first.host)}:${first.port}`;
  const readable = credentials.filter(({ secret }) => secret.explainAbsence() === null);
  const headers = Object.fromEntries(
    readable.map(({ header, prefix, secret }) => [header, `${prefix}${secret.reveal()}`]),
  );
  const explainRefusal = (url: string, status: number): string => `${url} answers ${status}`;
  try {
    return await readModels(`${origin}${pathPrefix}`, { headers, explainRefusal });
  } catch (error) {
    if (error instanceof FetchError) return null;
    throw error;
  }
}

type CatalogEntry = Pick<Config["catalog"][number], "id" | "upstream" | "upstreamModel" | "contextWindow">;
type ListedModel = ServerModels["models"][number];

function judge(config: Config, upstream: UpstreamConfig, reported: ServerModels): DoctorFinding[] {
  const models = config.catalog.filter((model) => model.upstream === upstream.name);
  const findings = [...judgeServer(upstream, reported), ...judgeModels(models, reported.models)];
  return findings.length > 0
    ? findings
    : [ok(checkOf(upstream), `The server of ${upstream.name} lists all its models of the catalog.`)];
}

function judgeServer(upstream: UpstreamConfig, { server }: ServerModels): DoctorFinding[] {
  if (server === null || server === upstream.server) return [];
  const { title } = MODEL_SERVERS[server];
  const written = upstream.server === null ? "`server` isn't set" : `\`server\` says \`${upstream.server}\``;
  const message = `Upstream ${upstream.name} is ${title} by its list of models, and ${written}.`;
  const fix = `Set \`server: ${server}\` of this upstream, which sets what this model server needs (docs/gateway-yaml.md, "What server sets").`;
  return [found("model_server_unnamed", checkOf(upstream), { message, fix })];
}

/** Linear time: servers and catalogs may have tens of thousands of models. */
export function judgeModels(
  catalog: readonly CatalogEntry[],
  listed: readonly ListedModel[],
): DoctorFinding[] {
  const byId = new Map(listed.map((model) => [model.id, model]));
  const shown = listed.slice(0, MAX_NAMED).map(({ id }) => `\`${id}\``);
  const names = `${shown.join(", ")}${listed.length > MAX_NAMED ? ", …" : ""}`;
  return catalog.flatMap((entry) => judgeModel(entry, byId.get(entry.upstreamModel), names));
}

function judgeModel(
  { id, upstream, upstreamModel, contextWindow }: CatalogEntry,
  listed: ListedModel | undefined,
  names: string,
): DoctorFinding[] {
  const check = checkOf({ name: upstream });
  if (listed === undefined) {
    const message = `${id}: the server of ${upstream} lists no model \`${upstreamModel}\`.`;
    const fix = `Set one of the server's names as \`upstream_model\` (${names}), or load the model on that server.`;
    return [found("upstream_model_unlisted", check, { message, fix })];
  }
  if (listed.contextWindow === null || listed.contextWindow >= contextWindow) return [];
  const message = `${id}: \`context_window\` is ${contextWindow}, but the server accepts ${listed.contextWindow} tokens.`;
  const fix = `Set it to ${listed.contextWindow}, or start the server with a larger window. Clients see the catalog's value.`;
  return [found("context_window_too_large", check, { message, fix })];
}

function checkOf({ name }: Pick<UpstreamConfig, "name">): string {
  return `upstream.${name}.models`;
}
