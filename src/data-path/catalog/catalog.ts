/**
 * Maps a catalog id to upstream, upstream model name, prices and profile. Decides whether a model exists, is in
 * service, is allowed for a key, and has a price in its organization's currency. Immutable: a reload creates a new
 * catalog (catalog-reference.ts), and a request keeps the model and prices that it began with. The only source is
 * `gateway.yaml`: upstreams are never asked for their models. Needs neither Redis nor Envoy, so their failures have no
 * effect.
 */
import { pinsSessions } from "../../shared/config/affinity.ts";
import { findNearest } from "../../shared/config/schema/nearest.ts";
import type { Config, ModelConfig, UpstreamConfig } from "../../shared/config/schema.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import { formatOwnerPath, ownerOfKey } from "../../shared/contract/pages.ts";
import type { ModelTarget } from "../translation/client-protocol.ts";
import type { ModelProfile, UpstreamProtocol } from "../../shared/contract/model-profile.ts";
import { parsePrice } from "../../shared/money/money.ts";
import { createPrice, type PriceList } from "../pricing/price.ts";
import { type GivenRates, RATE_NAMES } from "../pricing/rates.ts";
import { chooseMaxTokensField } from "./max-tokens-field.ts";
import { usesPromptCacheKey } from "./prompt-cache-key.ts";
import { findOwnName, type ModelNames } from "./model-names.ts";
import { listUpstreamProtocols } from "./upstream-protocols.ts";
import { shorten } from "../../shared/text/shorten.ts";

/** One entry of the catalog. */
export interface Model extends ModelTarget {
  /** The `model` that clients write: `<vendor>/<model>`. */
  readonly id: string;
  /** Other names that clients may use. */
  readonly aliases: readonly string[];
  /** The part of the id before the slash. */
  readonly vendor: string;
  readonly displayName: string;
  /** Name of the upstream, which is its Envoy cluster. */
  readonly upstream: string;
  /** Prefix of the upstream's endpoint paths: "/v1", or empty. */
  readonly pathPrefix: string;
  /** Client headers that this upstream gets in addition to those for all upstreams, in lower case. */
  readonly forwardHeaders: readonly string[];
  /** Protocols of the upstream for this model; at least one. */
  readonly protocols: ReadonlySet<UpstreamProtocol>;
  readonly upstreamModel: string;
  /** Maximum tokens of prompt and answer together. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly capabilities: ReadonlySet<string>;
  /** `Retry-After` while no replica is ready, if the upstream sends none. */
  readonly startupSeconds: number;
  /** Requests of a session go to the same server of the upstream. */
  readonly pinsSessions: boolean;
  /** The endpoint picker that chooses the upstream's servers; null: there is none. */
  readonly endpointPicker: UpstreamConfig["endpointPicker"];
  /** Id of the successor; null while the model is in service. Never the id of a retired model. */
  readonly replacedBy: string | null;
  /** Price lists by currency code. */
  readonly prices: ReadonlyMap<string, PriceList>;
  readonly profile: ModelProfile;
  /** Tokens for the upstream's chat template, added to the worst case of strict caps. */
  readonly promptOverheadTokens: number;
  /** Tokens for the upstream's chat template in requests with tools. */
  readonly promptOverheadTokensWithTools: number;
  /** Unix seconds. */
  readonly createdAtSeconds: number;
}

/** Viewer of the catalog: an API key or its organization. */
export interface ModelViewer {
  /** Catalog ids that the key can use; null: all. */
  readonly models: readonly string[] | null;
  /** The organization's billing currency. */
  readonly currency: string;
  /** The organization's own names; null or absent: it has none. */
  readonly modelNames?: ModelNames | null;
  /** Together with `keyId` names the API key; absent: there is no key. */
  readonly organizationId?: string;
  readonly keyId?: string;
}

const NEAREST_COUNT = 3;
/** Messages repeat the client's `model`, but not at any length. */
const MAX_SHOWN_CHARACTERS = 100;

/** The models of one version of the configuration. */
export class Catalog {
  /** All models in the order of the file, including retired ones. */
  readonly models: readonly Model[];
  readonly #byId: ReadonlyMap<string, Model>;
  readonly #byAlias: ReadonlyMap<string, Model>;
  readonly #dashboardUrl: string | null;

  /** @param dashboardUrl URL of the dashboard, where an API key's models are changed; null: not configured. */
  constructor(models: readonly Model[], dashboardUrl: string | null) {
    this.#dashboardUrl = dashboardUrl;
    this.models = Object.freeze([...models]);
    this.#byId = new Map(models.map((model) => [model.id, model]));
    this.#byAlias = new Map(models.flatMap((model) => model.aliases.map((alias) => [alias, model] as const)));
    Object.freeze(this);
  }

  find(id: string): Model | undefined {
    return this.#byId.get(id);
  }

  /** Lists the models that a viewer can use, in the order of the file. */
  listFor(viewer: ModelViewer): Model[] {
    const allowed = viewer.models === null ? null : new Set(viewer.models);
    return this.models.filter(
      (model) =>
        model.replacedBy === null && (allowed?.has(model.id) ?? true) && model.prices.has(viewer.currency),
    );
  }

  /**
   * Finds the model of a name, without the organization's default. Returns undefined if the name's target is not in
   * the catalog.
   */
  findByName(name: string, { modelNames }: Pick<ModelViewer, "modelNames">): Model | undefined {
    const own = findOwnName(modelNames, name);
    return this.#byId.get(name) ?? (own === null ? this.#byAlias.get(name) : this.#byId.get(own));
  }

  /**
   * Lists the names other than ids by which a viewer can use a model: aliases in the order of the file, then the
   * organization's own.
   */
  listAliases(model: Model, { modelNames }: ModelViewer): string[] {
    const own = Object.entries(modelNames?.aliases ?? {});
    return [
      ...model.aliases.filter((alias) => findOwnName(modelNames, alias) === null),
      ...own.filter(([name, id]) => id === model.id && !this.#byId.has(name)).map(([name]) => name),
    ];
  }

  /** Finds ids in service that are similar to `id`, nearest first. */
  nearest(id: string, count: number, models: readonly Model[] = this.models): string[] {
    const inService = models.filter((model) => model.replacedBy === null);
    const ids = inService.map((model) => model.id);
    const wanted = nameOf(id).slice(0, MAX_SHOWN_CHARACTERS).toLowerCase();
    const names = [...new Set(ids.map(nameOf))];
    const nearNames = findNearest(wanted, names, count);
    const found = [
      ...findNearest(id, ids, count),
      ...nearNames.flatMap((name) => ids.filter((candidate) => nameOf(candidate) === name)),
      ...(wanted === "" ? [] : ids.filter((candidate) => candidate.toLowerCase().includes(wanted))),
    ];
    return [...new Set(found)].slice(0, count);
  }

  /**
   * Finds the model of a request by its id, an organization's own name, an alias, or the organization's default model.
   * Permission depends on the model, not on the name.
   * @throws GatewayError 400 `model_not_found` (unknown: with the nearest ids; retired: with its successor), 403
   * `model_not_allowed`, 403 `model_not_available_in_currency`.
   */
  requireModel(name: string, viewer: ModelViewer): Model {
    const model = this.findByName(name, viewer) ?? this.#findDefault(name, viewer);
    if (model === undefined) throw this.#unknownModel(name, viewer);
    if (model.replacedBy !== null) {
      const shown = describeModel(model, name);
      const message = `The model ${shown} was retired. Use \`${model.replacedBy}\` instead.`;
      throw new GatewayError("model_not_found", { message, param: "model" });
    }
    if (!isAllowed(model, viewer)) {
      const message =
        `This API key can't use the model ${describeModel(model, name)}. ` +
        `\`GET /v1/models\` lists the models that it can use. Change them on ${this.#nameKeyPage(viewer)}.`;
      throw new GatewayError("model_not_allowed", { message, param: "model" });
    }
    if (!model.prices.has(viewer.currency)) {
      const message =
        `The model ${describeModel(model, name)} has no price in ${viewer.currency}, the organization's billing currency. ` +
        "`GET /v1/models` lists the models that have one.";
      throw new GatewayError("model_not_available_in_currency", { message, param: "model" });
    }
    return model;
  }

  #nameKeyPage({ organizationId = "", keyId }: ModelViewer): string {
    if (this.#dashboardUrl === null || keyId === undefined) return "the API keys page";
    return `${this.#dashboardUrl}${formatOwnerPath(ownerOfKey({ organizationId, keyId }))}#allowed_models`;
  }

  /** @throws GatewayError if the target of the name, or the default model, is not in the catalog. */
  #findDefault(name: string, { modelNames }: ModelViewer): Model | undefined {
    const own = findOwnName(modelNames, name);
    const target = own ?? modelNames?.defaultModel ?? null;
    const model = target === null ? undefined : this.#byId.get(target);
    if (target === null || model !== undefined) return model;
    const subject = own === null ? "The default model" : `The name \`${name}\``;
    const message =
      `${subject} of this organization stands for \`${target}\`, which is no longer in the catalog. ` +
      'Change it in the organization\'s inference settings, under "Model names".';
    throw new GatewayError("model_not_found", { message, param: "model" });
  }

  #unknownModel(id: string, viewer: ModelViewer): GatewayError {
    const nearest = this.nearest(id, NEAREST_COUNT, this.listFor(viewer)).map((one) => `\`${one}\``);
    const hint = nearest.length === 0 ? "" : ` Nearest: ${nearest.join(", ")}.`;
    const message = `Unknown model \`${shorten(id, MAX_SHOWN_CHARACTERS)}\`.${hint} \`GET /v1/models\` lists the models that this API key can use.`;
    return new GatewayError("model_not_found", { message, param: "model" });
  }
}

/** Creates the catalog of a configuration. */
export function createCatalog(config: Pick<Config, "catalog" | "upstreams" | "dashboard">): Catalog {
  const upstreams = new Map(config.upstreams.map((upstream) => [upstream.name, upstream]));
  const successors = new Map(config.catalog.map((entry) => [entry.id, entry.replacedBy]));
  return new Catalog(
    config.catalog.map((entry) => {
      const upstream = upstreams.get(entry.upstream);
      if (upstream === undefined) throw new Error(`no upstream ${entry.upstream} for model ${entry.id}`);
      return createModel(entry, upstream, finalSuccessor(entry.replacedBy, successors));
    }),
    config.dashboard.baseUrl,
  );
}

type Upstream = Pick<
  UpstreamConfig,
  "pathPrefix" | "protocols" | "endpoints" | "forwardHeaders" | "slowStartSeconds" | "endpointPicker"
>;

function createModel(entry: ModelConfig, upstream: Upstream, replacedBy: string | null): Model {
  const { pathPrefix, protocols, endpoints, forwardHeaders, endpointPicker } = upstream;
  const maxTokensField = entry.profile.maxTokensField ?? chooseMaxTokensField(endpoints);
  const promptCacheKey = entry.profile.promptCacheKey ?? usesPromptCacheKey(endpoints);
  return Object.freeze({
    ...entry,
    profile: { ...entry.profile, maxTokensField, promptCacheKey },
    vendor: entry.id.slice(0, entry.id.indexOf("/")),
    pathPrefix,
    forwardHeaders,
    pinsSessions: pinsSessions(entry, upstream),
    endpointPicker,
    protocols: listUpstreamProtocols(entry.capabilities, entry.protocols ?? protocols),
    capabilities: new Set<string>(entry.capabilities),
    replacedBy,
    prices: new Map(
      Object.entries(entry.prices).map(([currency, prices]) => [currency, createPriceList(prices)]),
    ),
    createdAtSeconds: Math.floor(Date.parse(entry.createdAt) / 1000),
  });
}

type PriceConfig = ModelConfig["prices"][string][number];
type RatesConfig = Omit<PriceConfig, "from" | "tiers" | "serviceTiers" | "serverTools">;

/** @param entries Not empty and in order, as validated by the configuration. */
function createPriceList(entries: readonly PriceConfig[]): PriceList {
  const [first, ...later] = entries.map((entry) =>
    createPrice({
      ...parseSchedule(entry),
      from: entry.from,
      serviceTiers: entry.serviceTiers.map((tier) => ({ ...parseSchedule(tier), name: tier.name })),
      serverTools: new Map(
        entry.serverTools.map(({ name, price }) => [name, price === null ? null : requirePrice(price)]),
      ),
    }),
  );
  if (first === undefined) throw new Error("a list of prices is empty");
  return Object.freeze([first, ...later] as const);
}

function parseSchedule(given: Pick<PriceConfig, "tiers"> & RatesConfig) {
  const tiers = given.tiers.map((tier) => ({
    ...parseRates(tier),
    abovePromptTokens: tier.abovePromptTokens,
  }));
  return { ...parseRates(given), tiers };
}

function parseRates(given: RatesConfig): GivenRates {
  const rates = RATE_NAMES.flatMap(({ rate }) => {
    const text = given[rate];
    return text === undefined ? [] : [[rate, requirePrice(text)] as const];
  });
  return { output: 0n, ...Object.fromEntries(rates), input: requirePrice(given.input) };
}

function requirePrice(text: string): bigint {
  const price = parsePrice(text);
  if (price === null) throw new Error(`not a price: ${text}`);
  return price;
}

/** Follows successors that were retired themselves; the configuration has no cycles. */
function finalSuccessor(id: string | null, successors: ReadonlyMap<string, string | null>): string | null {
  let current = id;
  for (let next = current; next !== null; next = successors.get(next) ?? null) current = next;
  return current;
}

function isAllowed(model: Model, viewer: ModelViewer): boolean {
  return viewer.models === null || viewer.models.includes(model.id);
}

function nameOf(id: string): string {
  return id.slice(id.indexOf("/") + 1);
}

/** Names a model by its id, and by the name that the client used. */
function describeModel({ id }: Model, name: string): string {
  return id === name ? `\`${id}\`` : `\`${id}\` (asked for as \`${shorten(name, MAX_SHOWN_CHARACTERS)}\`)`;
}
