import type { Command } from "commander";
import type { JsonObject } from "./admin-client.ts";
import { addCommands, type GlobalCommandRow } from "./management-command.ts";
import { formatTable, formatValue } from "./table.ts";

const COLUMNS = ["MODEL", "CURRENCY", "INPUT", "CACHED", "OUTPUT", "CONTEXT", "NOTE"];

const catalog: GlobalCommandRow = {
  usage: "catalog",
  description: "The models that keys can use, with their prices per million tokens.",
  examples: ["catalog", "catalog --json"],
  async run({ client }) {
    const { data } = await client.call("GET", "/api/catalog");
    const models = data as readonly JsonObject[];
    return { json: models, text: () => formatTable(COLUMNS, models.flatMap(formatRows)) };
  },
};

/** `catalog` */
export function addCatalogCommand(program: Command): void {
  addCommands(program, [catalog]);
}

/** One row for each currency that the model has a price in. */
function formatRows(model: JsonObject): string[][] {
  const prices = Object.entries(model["prices"] as Readonly<Record<string, JsonObject>>);
  const successor = model["replaced_by"];
  return prices.map(([currency, price]) => [
    String(model["id"]),
    currency,
    String(price["input"]),
    String(price["cached_input"]),
    String(price["output"]),
    String(model["context_window"]),
    successor === null ? "" : `retired: use ${formatValue(successor)}`,
  ]);
}
