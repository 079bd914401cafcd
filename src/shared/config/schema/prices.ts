import * as z from "zod";
import { parsePrice } from "../../money/money.ts";
import { TOKEN_FIGURES } from "../../usage/figures.ts";
import { priceNameOf, rateOf, TOKEN_KINDS, type TokenPriceName } from "../../usage/token-usage.ts";
import { nameServerTool, SERVER_TOOL_FORM } from "../../usage/server-tools.ts";
import { DEFAULT_SERVICE_TIERS } from "../../usage/service-tiers.ts";
import { explainCurrency } from "./currencies.ts";
import { described, integer, list, mapping, ofType } from "./fields.ts";
import { isDay } from "../../time/calendar.ts";

const DECIMAL = "at most seven digits before the point and eight after it";
/** Far above any context window. */
const MAX_TOKENS = 100_000_000;
const TIER_FORM = /^[a-z0-9][a-z0-9_.-]{0,31}$/;

const decimal = (noun: string, example: string) =>
  ofType(z.string({ error: `expected ${noun} as a decimal in quotes` }), "price").refine(
    (value) => parsePrice(value) !== null,
    { error: `expected ${noun} such as "${example}": ${DECIMAL}` },
  );
const perMillion = () => decimal("a price per million tokens", "2.50");

/**
 * Fields of every block of prices: of a currency, of a tier of prompt sizes, of a service tier. Created once,
 * like all below: each schema consists of several dozen others, and would otherwise be needed a dozen times.
 */
const RATES = createRatesShape();
const SCHEDULE = createScheduleShape();

type Decimal = ReturnType<typeof perMillion>;
/** Only the price of prompts is required. */
type TokenRates = { [Name in TokenPriceName]: Name extends "input" ? Decimal : z.ZodOptional<Decimal> };

function createTokenRates(): TokenRates {
  const rows = TOKEN_KINDS.map((kind) => {
    const { fallback, configured } = TOKEN_FIGURES[kind].price;
    return { rate: rateOf(kind), name: priceNameOf(kind), fallback, configured };
  });
  const shape = rows.map(({ name, fallback, configured }) => {
    if (name === "input") return [name, described(perMillion(), configured)];
    const base = rows.find(({ rate }) => rate === fallback);
    const notes = {
      default: base === undefined ? "**required** except for only `embeddings`" : `\`${base.name}\``,
    };
    return [name, described(perMillion().optional(), configured, notes)];
  });
  return Object.fromEntries(shape) as TokenRates;
}

function createRatesShape() {
  return {
    ...createTokenRates(),
    request: described(
      decimal("an amount for each request", "0.01").optional(),
      "Fee for each charged request.",
      { unit: "per request", default: "" },
    ),
  };
}

function createScheduleShape() {
  const tier = mapping({
    above_prompt_tokens: integer(1, MAX_TOKENS),
    ...RATES,
  });
  const tiers = list(tier, "tiers").superRefine((given, context) => {
    for (const [index, { above_prompt_tokens: size }] of given.entries()) {
      const before = given[index - 1]?.above_prompt_tokens;
      if (before === undefined || size > before) continue;
      const message = `expected more than ${before}, the size of the previous tier`;
      context.addIssue({ code: "custom", path: [index, "above_prompt_tokens"], message });
    }
  });
  return {
    ...RATES,
    tiers: described(
      tiers.default([]),
      "Prices of larger prompts: the last entry that a prompt exceeds, cached and written tokens included, prices the whole request.",
      { type: "ascending list of `above_prompt_tokens` and prices" },
    ),
  };
}

const tierName = z.string().superRefine((name, context) => {
  const message = explainTier(name);
  if (message !== null) context.addIssue({ code: "custom", message });
});

function explainTier(name: string): string | null {
  if (DEFAULT_SERVICE_TIERS.has(name)) {
    return `\`${name}\` is the default: put its prices next to \`service_tiers\``;
  }
  return TIER_FORM.test(name)
    ? null
    : "expected a service tier as upstreams name it, in lower case, such as `flex` or `priority`";
}

const toolName = z.string().superRefine((name, context) => {
  if (SERVER_TOOL_FORM.test(name) && nameServerTool(name) === name) return;
  const message =
    nameServerTool(name) === "unknown"
      ? "expected a tool of the model server, in lower case, such as `web_search`"
      : `\`${name}\` is a version: write \`${nameServerTool(name)}\`, which is the price of each`;
  context.addIssue({ code: "custom", message });
});

/** Null: uses are free. */
const toolPrice = z.unknown().transform((value, context): string | null => {
  if (typeof value === "string" && parsePrice(value) !== null) return value;
  const isUnpriced = z.strictObject({ unpriced: z.literal(true) }).safeParse(value).success;
  if (isUnpriced) return null;
  const message = `expected a price per thousand uses in quotes such as "10.00", or \`{unpriced: true}\``;
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

const PRICE = {
  ...SCHEDULE,
  server_tools: described(
    z.record(toolName, toolPrice).default({}),
    "Tools of the model server (`web_search`, `code_interpreter`, `mcp` …); `unpriced` charges only tokens, and others return 400.",
    { type: "tool → price per thousand uses, or `{unpriced: true}`" },
  ),
  service_tiers: described(
    z.record(tierName, mapping(SCHEDULE)).default({}),
    "Prices of service tiers (`flex`, `priority`), speeds and regions (`fast`, `us`, `fast-us`), optionally with `tiers`.",
    { type: "tier → prices" },
  ),
};

const day = z.string({ error: "expected a day such as 2027-01-01" }).refine(isDay, {
  error: "expected a day such as 2027-01-01",
});

const ENTRY = mapping({
  from: described(
    day.optional(),
    "First UTC day of this entry in a list of prices; the first entry has none.",
    { type: "date", default: "" },
  ),
  ...PRICE,
});

type GivenPrice = z.output<typeof ENTRY>;

/** One block of prices, or a list of blocks by the day from which they apply. */
function createPriceListSchema() {
  const single = mapping(PRICE).transform((given): GivenPrice => given);
  const several = list(ENTRY, "prices", 1).superRefine(checkDays);
  const parse = (value: unknown) =>
    Array.isArray(value) ? several.safeParse(value) : z.tuple([single]).safeParse([value]);
  return z.unknown().transform((value, context) => {
    const result = parse(value);
    if (result.success) return result.data.map(arrange);
    const skipped = Array.isArray(value) ? 0 : 1;
    for (const issue of result.error.issues) {
      context.issues.push({ ...issue, path: issue.path.slice(skipped), input: value } as z.core.$ZodRawIssue);
    }
    return z.NEVER;
  });
}

function checkDays(given: readonly GivenPrice[], context: z.RefinementCtx): void {
  for (const [index, { from }] of given.entries()) {
    const before = given[index - 1]?.from;
    const message = explainDay(index, from, before);
    if (message !== null) context.addIssue({ code: "custom", path: [index, "from"], message });
  }
}

function explainDay(index: number, from: string | undefined, before: string | undefined): string | null {
  if (index === 0) {
    return from === undefined ? null : "the first entry applies from the beginning: remove `from`";
  }
  if (from === undefined) return "expected a day such as 2027-01-01";
  if (from === before) return `the previous entry already has the day ${from}`;
  return before === undefined || from > before
    ? null
    : `expected a later day than ${before}, the day of the previous entry`;
}

/** Turns names that operators choose into values, so that they are not taken for fields. */
function arrange({ from, service_tiers: serviceTiers, server_tools: serverTools, ...schedule }: GivenPrice) {
  return {
    ...schedule,
    server_tools: Object.entries(serverTools).map(([name, price]) => ({ name, price })),
    from: from ?? null,
    service_tiers: Object.entries(serviceTiers).map(([name, own]) => ({ ...own, name })),
  };
}

/** `catalog[].prices`: per million tokens, one block for each billing currency. */
export function createPricesSchema() {
  const currency = z.string().superRefine((code, context) => {
    const message = explainCurrency(code);
    if (message !== null) context.addIssue({ code: "custom", message });
  });
  const error = 'expected one block of prices per currency, as in `USD: {input: "2.50", output: "10.00"}`';
  // Fields of both forms, for the generated reference.
  const describeEntry = () => z.toJSONSchema(ENTRY, { io: "input", unrepresentable: "any" });
  const prices = createPriceListSchema().meta({
    get properties() {
      return describeEntry().properties;
    },
    get required() {
      return describeEntry().required;
    },
  });
  return z.record(currency, prices, { error }).refine((given) => Object.keys(given).length > 0, { error });
}
