import type { Command } from "commander";
import type { Level, Screen } from "../terminal/screen.ts";
import { type Column, formatTable, formatValue } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatExactAmounts } from "./amounts.ts";
import { CommandError } from "./command-error.ts";
import { explainRequest } from "./explain-request.ts";
import { findKey, findRequestIds, refuseAmbiguous } from "./find.ts";
import { createListCommand, type ListedIn } from "./list-command.ts";
import { addCommands, type ManagementOptions, type OrganizationCommandRow } from "./management-command.ts";
import { parsePastTime } from "./times.ts";

interface FilterOptions extends ManagementOptions {
  readonly key?: string;
  readonly model?: string;
  readonly upstream?: string;
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
    "requests list --upstream vllm-east --status 5xx",
    "requests list --model acme/echo-small --tag team=search --from 2h",
    "requests list --limit 100 --json",
  ],
  path: "requests",
  options: (command) =>
    command
      .option("--key <id or name>", "only this key's")
      .option("--model <id>", "only this model's")
      .option("--upstream <name>", "only those that were handed to this upstream")
      .option("--status <status or code>", "only with this status (402), class (5xx) or error code")
      .option("--tag <tags>", "only those with all of these tags, as in team=search")
      .option(
        "--from <day or time>",
        "only those that came then or later: 2026-11-21 (UTC), 2h ago",
        parsePastTime,
      )
      .option("--to <day or time>", "only those that came before; of a day, its end (UTC)", parsePastTime)
      .option("--id <text>", "only those whose id contains this"),
  async query({ client, options, path }) {
    const { key, model, upstream, status, tag, from, to, id }: FilterOptions = options;
    const keyId = key === undefined ? undefined : String((await findKey(client, path, key))["id"]);
    return {
      key_id: keyId,
      model,
      upstream,
      status,
      tag,
      from,
      to,
      id: id?.replace(/^(?:req_)?…/, ""),
    };
  },
  format: formatList,
});

const show: OrganizationCommandRow = {
  usage: "show <request>",
  description: "One request by its id (`x-request-id`): how it ended and why, its way, cost and checks.",
  examples: ["requests show req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
  hasTable: true,
  async runInOrganization({ client, argument, organization, path }) {
    const [id, ...others] = await findRequestIds(client, path, argument);
    if (id === undefined) throw new CommandError(`No recent request's id ends like "${argument}".`);
    if (others.length > 0) refuseAmbiguous(argument, "request", [id, ...others]);
    const found = await client.call("GET", `${path}/requests/${encodeURIComponent(id)}`);
    return {
      json: found,
      text: (screen) => explainRequest(found, { screen, organization, url: client.url }),
    };
  },
};

/** `requests …` */
export function addRequestCommands(program: Command): void {
  const group = program
    .command("requests")
    .description("The last requests: what they cost or why they were refused.");
  addCommands(group, [list, show]);
}

const COLUMNS: readonly (string | Column)[] = [
  "TIME",
  "REQUEST",
  "KEY",
  "MODEL",
  "STATUS",
  { header: "MS", isExtra: true },
  { header: "FIRST TOKEN", isExtra: true },
  { header: "INPUT", isExtra: true },
  { header: "CACHED", isExtra: true },
  { header: "OUTPUT", isExtra: true },
  "COST",
  { header: "UPSTREAM", isExtra: true },
];

function formatList(screen: Screen, all: readonly JsonObject[], { currency }: ListedIn): string {
  const columns = COLUMNS.map((column) =>
    column === "STATUS" ? { header: column, levels: all.map(levelOf) } : column,
  );
  const costs = formatExactAmounts(
    all.map(({ cost_microcents: cost, error_code: error }) => (cost === 0 && error !== null ? null : cost)),
    currency,
  );
  return formatTable(
    screen,
    columns,
    all.map((one, line) => [
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
      costs[line] ?? "",
      formatUpstream(one["upstream"] as JsonObject | null),
    ]),
  );
}

function levelOf({ status, error_code: code }: JsonObject): Level {
  if (typeof status === "number" && status < 400) return code === null ? "good" : "bad";
  return typeof status === "number" && status < 500 ? "warning" : "bad";
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
