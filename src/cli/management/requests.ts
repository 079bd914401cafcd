import type { Command } from "commander";
import type { JsonObject } from "./admin-client.ts";
import { formatExactAmount } from "./amounts.ts";
import { createListCommand } from "./list-command.ts";
import { addCommands, type OrganizationCommandRow } from "./management-command.ts";
import { formatFields, formatTable, formatValue } from "./table.ts";

const list = createListCommand({
  usage: "list",
  description: "The last requests, newest first, refused ones too.",
  examples: ["requests list --org Acme", "requests list --limit 100 --json"],
  path: "requests",
  format: formatList,
});

const show: OrganizationCommandRow = {
  usage: "show <request>",
  description: "One request by its id (`x-request-id`): every check with its figures, tokens, cost.",
  examples: ["requests show req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
  async runInOrganization({ client, argument, organization, path }) {
    const found = await client.call("GET", `${path}/requests/${encodeURIComponent(argument)}`);
    return { json: found, text: () => describe(found, String(organization["currency"])) };
  },
};

/** `requests …` */
export function addRequestCommands(program: Command): void {
  const group = program
    .command("requests")
    .description("The last requests: what they cost or why they were refused.");
  addCommands(group, [list, show]);
}

function formatList(all: readonly JsonObject[], currency: string): string {
  return formatTable(
    ["TIME", "REQUEST", "ROUTE", "MODEL", "STATUS", "TOKENS", "COST"],
    all.map((one) => [
      String(one["created_at"]),
      String(one["id"]),
      String(one["route"]),
      formatValue(one["model"]),
      outcomeOf(one),
      String(tokensOf(one)),
      formatExactAmount(one["cost_microcents"], currency),
    ]),
  );
}

function describe(one: JsonObject, currency: string): string {
  const checks = one["checks"] as readonly JsonObject[];
  return formatFields([
    ["id", String(one["id"])],
    ["came", String(one["created_at"])],
    ["ended", String(one["recorded_at"])],
    ["key", String(one["key_id"])],
    ["route", String(one["route"])],
    ["model", formatValue(one["model"])],
    ["status", outcomeOf(one)],
    ["input tokens", String(one["input_tokens"])],
    ["cached input tokens", String(one["cached_input_tokens"])],
    ["output tokens", `${String(one["output_tokens"])}${one["estimated"] === true ? " (estimated)" : ""}`],
    ["cost", formatExactAmount(one["cost_microcents"], currency)],
    ...checks.map((check) => [`check: ${String(check["name"])}`, describeCheck(check)] as const),
  ]);
}

function describeCheck(check: JsonObject): string {
  const figures = Object.entries(check["figures"] as JsonObject).map(
    ([name, value]) => `${name} ${String(value)}`,
  );
  return [check["passed"] === true ? "passed" : "FAILED", ...figures].join(", ");
}

function outcomeOf(one: JsonObject): string {
  const status = formatValue(one["status"], "closed");
  return one["error_code"] === null ? status : `${status} ${formatValue(one["error_code"])}`;
}

function tokensOf(one: JsonObject): number {
  return Number(one["input_tokens"]) + Number(one["cached_input_tokens"]) + Number(one["output_tokens"]);
}
