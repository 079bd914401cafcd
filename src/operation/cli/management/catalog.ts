import { listOtherRates } from "../../../data-path/pricing/rates.ts";
import { formatRecords, formatValue, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import type { GlobalCommandRow } from "./management-command.ts";

const COLUMNS: readonly RecordColumn<CatalogRow>[] = [
  { header: "MODEL", cell: ({ model }) => model["id"] },
  { header: "CURRENCY", cell: ({ currency }) => currency },
  { header: "PRICE", cell: ({ name }) => name },
  { header: "INPUT", cell: ({ rates }) => rates["input"] },
  { header: "CACHED", cell: ({ rates }) => rates["cached_input"] },
  { header: "OUTPUT", cell: ({ rates }) => rates["output"] },
  { header: "OTHER", cell: ({ rates }) => formatOtherRates(rates), isExtra: true },
  { header: "CONTEXT", cell: ({ model }) => model["context_window"], isExtra: true },
  {
    header: "NOTE",
    cell: ({ model: { replaced_by: next } }) => (next === null ? "" : `retired: use ${formatValue(next)}`),
  },
];

export const catalogCommand: GlobalCommandRow = {
  usage: "catalog",
  description: "List models with prices per million tokens, including announced ones.",
  examples: ["catalog", "catalog --json"],
  hasTable: true,
  async run({ client }) {
    const all = await client.call("GET", "/api/catalog");
    const models = all["data"] as readonly JsonObject[];
    return { json: all, text: (screen) => formatRecords(screen, COLUMNS, models.flatMap(listRows)) };
  },
};

/**
 * Lists a row for every price of the model in each currency, current and announced, by service tier and
 * prompt size.
 */
function listRows(model: JsonObject): CatalogRow[] {
  const prices = Object.entries(model["prices"] as Readonly<Record<string, JsonObject>>);
  return prices.flatMap(([currency, price]) =>
    [price, ...(price["announced"] as JsonObject[])]
      .flatMap(listRates)
      .map((rates) => ({ model, currency, ...rates })),
  );
}

interface CatalogRow extends NamedRates {
  readonly model: JsonObject;
  readonly currency: string;
}

interface NamedRates {
  /** "from 2027-01-01, flex, above 200000": conditions other than the default. */
  readonly name: string;
  readonly rates: JsonObject;
}

function listRates(price: JsonObject): NamedRates[] {
  const day = price["from"] === null ? [] : [`from ${formatValue(price["from"])}`];
  const schedules = [
    { words: day, schedule: price },
    ...Object.entries(price["service_tiers"] as Readonly<Record<string, JsonObject>>).map(
      ([tier, schedule]) => ({ words: [...day, tier], schedule }),
    ),
  ];
  return schedules.flatMap(({ words, schedule }) => [
    { name: words.join(", "), rates: schedule },
    ...(schedule["tiers"] as JsonObject[]).map((rates) => ({
      name: [...words, `above ${formatValue(rates["above_prompt_tokens"])}`].join(", "),
      rates,
    })),
  ]);
}

function formatOtherRates(rates: JsonObject): string {
  // Part of a whole price; the rates of a tier have none.
  const tools = Object.entries((rates["server_tools"] ?? {}) as JsonObject);
  return [
    ...listOtherRates(rates).map((name) => `${name} ${formatValue(rates[name])}`),
    ...tools.map(([name, price]) => `${name} ${price === null ? "unpriced" : `${formatValue(price)}/1000`}`),
  ].join(", ");
}
