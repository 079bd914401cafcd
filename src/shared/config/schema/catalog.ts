import * as z from "zod";
import { REASONING_EFFORTS } from "../../contract/model-profile.ts";
import { choice, choices, described, integer, list, mapping, orNull, text } from "./fields.ts";
import { modelName, NAME_VALUES } from "./model-names.ts";
import { createPricesSchema } from "./prices.ts";
import { createProfileSchema } from "./profile.ts";
import { protocols } from "./protocols.ts";

/** Capabilities of models in the catalog; the last three are endpoints. */
const CAPABILITIES = [
  "tools",
  "vision",
  "reasoning",
  "json_schema",
  "chat",
  "embeddings",
  "completions",
] as const;

const MAX_TOKENS = 100_000_000;

/** Form of a catalog id; the first part is the vendor. */
const MODEL_ID_FORM = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._:-]*$/;

const modelId = () => text("an id of the form `<vendor>/<model>`, as in `acme/echo-small`", MODEL_ID_FORM);

const DATE_FORM = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?$/;

const date = () =>
  z
    .string({ error: "expected a date such as 2026-01-31" })
    .refine((value) => DATE_FORM.test(value) && !Number.isNaN(Date.parse(value)), {
      error: "expected a date such as 2026-01-31, or an RFC 3339 time",
    });

const MAX_ALIASES = 1_000;

function createAliasesSchema() {
  const error = `expected a list of at most ${MAX_ALIASES} names`;
  return z.array(modelName(), { error }).max(MAX_ALIASES, { error }).default([]);
}

/** Returns the fields of a model's names and upstreams. */
function createIdentityShape() {
  return {
    id: modelId().describe("Name that clients send as `model`: `<vendor>/<model>`."),
    aliases: described(
      createAliasesSchema(),
      "Other names that clients can send, each unique in the catalog.",
      { type: `list of at most ${MAX_ALIASES} names of ${NAME_VALUES}` },
    ),
    display_name: described(text("a name").optional(), "Name in `GET /v1/models`.", {
      default: "`id`",
    }),
    created_at: described(date().default("1970-01-01"), "Date in `GET /v1/models`.", {
      type: "date or RFC 3339 time",
    }),
    upstream: text("the name of an upstream").describe("Name of its upstream."),
    upstream_model: described(
      text("the upstream's name of the model").optional(),
      "The upstream's name of the model.",
      { default: "`id`" },
    ),
    protocols: described(protocols().optional(), "The upstream's protocols for this model.", {
      default: "the upstream's `protocols`",
    }),
    affinity: described(
      orNull(choice(["session", "off"])),
      "`session`: requests of a session go [to the same server](configuration.md#keep-sessions-on-one-server).",
      {
        default:
          "`session` if the upstream has several servers of one priority, without slow start or picker",
      },
    ),
  };
}

/** Returns the fields of a model's limits and capabilities. */
function createCapacityShape() {
  return {
    context_window: integer(1, MAX_TOKENS, "tokens").describe("Maximum of prompt and response."),
    max_output_tokens: described(
      integer(1, MAX_TOKENS, "tokens").optional(),
      "Longest response, at most `context_window`.",
      { default: "**required** except for only `embeddings`" },
    ),
    capabilities: choices(CAPABILITIES, "capabilities")
      .default([])
      .describe(
        "Abilities (`vision`: images and documents; `reasoning`: efforts) and endpoints: a model with `embeddings` or `completions` has the others only with `chat`.",
      ),
    startup_seconds: integer(1, 3600, "seconds")
      .default(10)
      .describe(
        "`Retry-After` while no replica is ready and the upstream sends none; clients get at most 59.",
      ),
    replaced_by: described(orNull(modelId()), "Retires the model; requests return 400 with this name."),
    prompt_overhead_tokens: integer(0, MAX_TOKENS, "tokens")
      .default(64)
      .describe("Tokens that strict caps add to a prompt for the chat template."),
    prompt_overhead_tokens_with_tools: described(
      integer(0, MAX_TOKENS, "tokens").optional(),
      "The same for requests with tools.",
      { default: "512, at least `prompt_overhead_tokens`" },
    ),
  };
}

const OVERHEAD_WITH_TOOLS_TOKENS = 512;

/** `catalog`: the models that clients can name. */
export function createCatalogSchema() {
  const model = mapping({
    ...createIdentityShape(),
    ...createCapacityShape(),
    prices: createPricesSchema(),
    profile: createProfileSchema(),
  }).transform((given) => {
    const vision = given.capabilities.includes("vision");
    const reasons = given.capabilities.includes("reasoning");
    const overhead = given.prompt_overhead_tokens;
    return {
      ...given,
      display_name: given.display_name ?? given.id,
      upstream_model: given.upstream_model ?? given.id,
      max_output_tokens: given.max_output_tokens ?? given.context_window,
      prompt_overhead_tokens_with_tools:
        given.prompt_overhead_tokens_with_tools ?? Math.max(OVERHEAD_WITH_TOOLS_TOKENS, overhead),
      profile: {
        ...given.profile,
        images: given.profile.images ?? vision,
        files: given.profile.files ?? vision,
        reasoning_efforts: given.profile.reasoning_efforts ?? (reasons ? [...REASONING_EFFORTS] : []),
      },
    };
  });
  return list(model, "models", 1);
}
