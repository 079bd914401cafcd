import type { Command } from "commander";
import { listOtherRates } from "../../pricing/rates.ts";
import { type Column, formatTable, formatValue } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { addCommands, type GlobalCommandRow } from "./management-command.ts";

const COLUMNS: readonly (string | Column)[] = [
  "MODEL",
  "CURRENCY",
  "PRICE",
  "INPUT",
  "CACHED",
  "OUTPUT",
  { header: "OTHER", isExtra: true },
  { header: "CONTEXT", isExtra: true },
  "NOTE",
];

const catalog: GlobalCommandRow = {
  usage: "catalog",
  description: "The models that keys can use, with their prices per million tokens, announced ones included.",
  examples: ["catalog", "catalog --json"],
  hasTable: true,
  async run({ client }) {
    const all = await client.call("GET", "/api/catalog");
    const models = all["data"] as readonly JsonObject[];
    return { json: all, text: (screen) => formatTable(screen, COLUMNS, models.flatMap(formatRows)) };
  },
};

/** `catalog` */
export function addCatalogCommand(program: Command): void {
  addCommands(program, [catalog]);
}

/** For each currency a row for every price of the model, now and announced, by service tier and size of prompt. */
function formatRows(model: JsonObject): string[][] {
  const prices = Object.entries(model["prices"] as Readonly<Record<string, JsonObject>>);
  const successor = model["replaced_by"];
  const note = successor === null ? "" : `retired: use ${formatValue(successor)}`;
  return prices.flatMap(([currency, price]) =>
    [price, ...(price["announced"] as JsonObject[])]
      .flatMap(listRates)
      .map(({ name, rates }) => [
        String(model["id"]),
        currency,
        name,
        String(rates["input"]),
        String(rates["cached_input"]),
        String(rates["output"]),
        formatOthers(rates),
        String(model["context_window"]),
        note,
      ]),
  );
}

interface NamedRates {
  /** "from 2027-01-01, flex, above 200000": what is not the default. */
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

function formatOthers(rates: JsonObject): string {
  return listOtherRates(rates)
    .map((name) => `${name} ${formatValue(rates[name])}`)
    .join(", ");
}
