import type { Command } from "commander";
import type { JsonObject } from "./admin-client.ts";
import { formatExactAmount } from "./amounts.ts";
import { explainRequest } from "./explain-request.ts";
import { createListCommand } from "./list-command.ts";
import {
  addCommands,
  findKey,
  type ManagementOptions,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { formatTable, formatValue } from "./table.ts";

interface FilterOptions extends ManagementOptions {
  readonly key?: string;
  readonly model?: string;
  readonly status?: string;
  readonly tag?: string;
  readonly from?: string;
  readonly to?: string;
  readonly id?: string;
}

const list = createListCommand({
  usage: "list",
  description: "The last requests, newest first, refused ones too.",
  examples: [
    "requests list --org Acme",
    "requests list --key ci --status 5xx --from 2026-11-21",
    "requests list --limit 100 --json",
  ],
  path: "requests",
  options: (command) =>
    command
      .option("--key <id or name>", "only this key's")
      .option("--model <id>", "only this model's")
      .option("--status <status or code>", "only with this status (402), class (5xx) or error code")
      .option("--tag <tags>", "only those with all of these tags, as in team=search")
      .option("--from <day or time>", "only those that came then or later (UTC)")
      .option("--to <day or time>", "only those that came before; of a day, its end (UTC)")
      .option("--id <text>", "only those whose id contains this"),
  async query({ client, options, path }) {
    const { key, model, status, tag, from, to, id }: FilterOptions = options;
    const keyId = key === undefined ? undefined : String((await findKey(client, path, key))["id"]);
    return { key_id: keyId, model, status, tag, from, to, id };
  },
  format: formatList,
});

const show: OrganizationCommandRow = {
  usage: "show <request>",
  description: "One request by its id (`x-request-id`): how it ended and why, its way, cost and checks.",
  examples: ["requests show req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
  async runInOrganization({ client, argument, organization, path }) {
    const found = await client.call("GET", `${path}/requests/${encodeURIComponent(argument)}`);
    return { json: found, text: () => explainRequest(found, { organization, url: client.url }) };
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
    [
      "TIME",
      "REQUEST",
      "KEY",
      "MODEL",
      "STATUS",
      "MS",
      "FIRST TOKEN",
      "INPUT",
      "CACHED",
      "OUTPUT",
      "COST",
      "UPSTREAM",
    ],
    all.map((one) => [
      `${String(one["created_at"]).slice(0, "2026-11-21T14:03:59".length)}Z`,
      String(one["id"]),
      formatValue(one["key_name"] ?? one["key_id"]),
      formatValue(one["model"]),
      outcomeOf(one),
      formatValue(one["duration_ms"]),
      formatValue(one["first_token_ms"]),
      String(one["input_tokens"]),
      String(one["cached_input_tokens"]),
      String(one["output_tokens"]),
      formatExactAmount(one["cost_microcents"], currency),
      formatUpstream(one["upstream"] as JsonObject | null),
    ]),
  );
}

function outcomeOf(one: JsonObject): string {
  const status = formatValue(one["status"], "closed");
  return one["error_code"] === null ? status : `${status} ${formatValue(one["error_code"])}`;
}

function formatUpstream(upstream: JsonObject | null): string {
  return upstream === null
    ? "-"
    : `${String(upstream["name"])} ${formatValue(upstream["status"], "no answer")}`;
}
