import type { Level, Screen } from "../terminal/screen.ts";
import { formatRecords, formatValue, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatExactAmounts, formatSecond, parsePastTime } from "./option-values.ts";
import { CommandError } from "./command-error.ts";
import { explainRequest } from "./explain-request.ts";
import { findRequestIds, refuseAmbiguous } from "./find.ts";
import { queryFormerOwners } from "./owners.ts";
import {
  type CommandGroup,
  createListCommand,
  type ListedIn,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
  type TextOptions,
} from "./management-command.ts";

type FilterOptions = ManagementOptions &
  TextOptions<
    "key" | "user" | "group" | "model" | "upstream" | "status" | "tag" | "session" | "from" | "to" | "id"
  >;

const list = createListCommand({
  usage: "list",
  description: "List recent requests, newest first, including rejected ones.",
  examples: [
    "requests list --org Acme",
    "requests list --key ci --status 5xx --from 2026-11-21",
    "requests list --user ann@example.com --status 402",
    "requests list --upstream vllm-east --status 5xx",
    "requests list --model acme/echo-small --tag team=search --from 2h",
    "requests list --session 0d9f3a52-6f0e-4a57-9a0c-5a7d1c2b3e4f",
    "requests list --limit 100 --json",
  ],
  path: "requests",
  options: (command) =>
    command
      .option("--key <id or name>", "only this API key's requests, by id or name")
      .option("--user <user>", "only requests of this user, by id, name or email address")
      .option("--group <group>", "only requests of this group, by id or name")
      .option("--model <id>", "only this model's requests")
      .option("--upstream <name>", "only requests that went to this upstream")
      .option("--status <status or code>", "only with this status (402), class (5xx) or error code")
      .option("--tag <tags>", "only with all of these tags, such as team=search")
      .option("--session <name>", "only requests of this session")
      .option("--from <day or time>", "first day or time: 2026-11-21 (UTC), or 2h ago", parsePastTime)
      .option("--to <day or time>", "end: a day (inclusive, UTC) or a time", parsePastTime)
      .option("--id <text>", "part of the request id"),
  async query({ client, options, path }: OrganizationCommandCall<FilterOptions>) {
    const { model, upstream, status, tag, session, from, to, id } = options;
    const owners = await queryFormerOwners(client, path, options);
    const part = id?.replace(/^(?:req_)?…/, "");
    return { ...owners, model, upstream, status, tag, session, from, to, id: part };
  },
  format: formatList,
});

const show: OrganizationCommandRow = {
  usage: "show <request>",
  description: "Show one request by its id (`x-request-id`).",
  examples: ["requests show req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11 --org Acme"],
  hasTable: true,
  async runInOrganization({ client, argument, organization, path }) {
    const [id, ...further] = await findRequestIds(client, path, argument);
    if (id === undefined) throw new CommandError(`No recent request has an id that ends with "${argument}".`);
    if (further.length > 0) refuseAmbiguous(argument, "request", [id, ...further]);
    const found = await client.call("GET", `${path}/requests/${encodeURIComponent(id)}`);
    return {
      json: found,
      text: (screen) => explainRequest(found, { screen, organization, url: client.url }),
    };
  },
};

export const REQUEST_COMMANDS: CommandGroup = {
  name: "requests",
  description: "Show recent requests: their cost, or why they were rejected.",
  rows: [list, show],
};

/** Returns a column of sessions if any request has one. */
function sessionColumn(all: readonly JsonObject[]): readonly RecordColumn<JsonObject>[] {
  if (all.every((one) => one["session_id"] === null)) return [];
  return [{ header: "SESSION", cell: (one) => one["session_id"], isExtra: true }];
}

function formatList(screen: Screen, all: readonly JsonObject[], { currency }: ListedIn): string {
  const costs = formatExactAmounts(
    all.map(({ cost_microcents: cost, error_code: error }) => (cost === 0 && error !== null ? null : cost)),
    currency,
  );
  const columns: readonly RecordColumn<JsonObject>[] = [
    { header: "TIME", cell: ({ created_at: at }) => formatSecond(at) },
    { header: "REQUEST", cell: ({ id }) => id },
    { header: "KEY", cell: (one) => one["key_name"] ?? one["key_id"] },
    { header: "USER", cell: (one) => one["user_name"] ?? one["user_id"], isExtra: true },
    { header: "GROUP", cell: (one) => one["group_name"] ?? one["group_id"], isExtra: true },
    ...sessionColumn(all),
    { header: "MODEL", cell: ({ model }) => model },
    { header: "STATUS", cell: outcomeOf, level: levelOf },
    { header: "MS", cell: (one) => one["duration_ms"], isExtra: true },
    { header: "FIRST TOKEN", cell: (one) => one["first_token_ms"], isExtra: true },
    { header: "INPUT", cell: (one) => one["input_tokens"], isExtra: true },
    { header: "CACHED", cell: (one) => one["cached_input_tokens"], isExtra: true },
    { header: "OUTPUT", cell: (one) => one["output_tokens"], isExtra: true },
    { header: "COST", cell: (_, line) => costs[line] },
    {
      header: "UPSTREAM",
      cell: ({ upstream }) => formatUpstream(upstream as JsonObject | null),
      isExtra: true,
    },
  ];
  return formatRecords(screen, columns, all);
}

function levelOf({ status, error_code: code }: JsonObject): Level {
  if (typeof status === "number" && status < 400) return code === null ? "good" : "bad";
  return typeof status === "number" && status < 500 ? "warning" : "bad";
}

function outcomeOf(one: JsonObject): string {
  const status = formatValue(one["status"], "closed");
  return one["error_code"] === null ? status : `${status} ${formatValue(one["error_code"])}`;
}

function formatUpstream(upstream: JsonObject | null): string | null {
  return upstream && `${String(upstream["name"])} ${formatValue(upstream["status"], "no response")}`;
}
