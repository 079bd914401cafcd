import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type { Screen } from "../terminal/screen.ts";
import { shortenId } from "../terminal/short-id.ts";
import { formatRecords, formatValue, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { CommandError } from "./command-error.ts";
import { formatExactAmounts } from "./option-values.ts";
import {
  type CommandGroup,
  type ManagementOptions,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
  type TextOptions,
} from "./management-command.ts";
import { queryFormerOwners } from "./owners.ts";
import { correct } from "./usage-correct.ts";

type UsageOptions = ManagementOptions &
  TextOptions<
    | "month"
    | "from"
    | "to"
    | "groupBy"
    | "top"
    | "order"
    | "key"
    | "user"
    | "group"
    | "model"
    | "tag"
    | "session"
  > & { readonly csv?: true };

/** Groupings of usage, with the text for rows without a value. */
const GROUPS = [
  { field: "hour", header: "HOUR", none: "" },
  { field: "day", header: "DAY", none: "" },
  { field: "week", header: "WEEK", none: "" },
  { field: "month", header: "MONTH", none: "" },
  { field: "key_id", header: "KEY", none: "(correction)" },
  { field: "user_id", header: "USER", none: "(none)" },
  { field: "group_id", header: "GROUP", none: "(none)" },
  { field: "model", header: "MODEL", none: "(correction)" },
  { field: "session_id", header: "SESSION", none: "(none)" },
] as const;

const show: OrganizationCommandRow = {
  usage: "show",
  description: "Show requests, tokens and cost of a month, or of up to 400 days.",
  hasTable: true,
  examples: [
    "usage show --org Acme",
    "usage show --month 2026-11 --group-by day,key,model",
    "usage show --group-by user,group",
    "usage show --from 2026-10-01 --to 2026-11-30 --group-by week,user --top 10",
    "usage show --user ann@example.com --group-by day,model",
    "usage show --group-by tag:team --tag feature=autocomplete",
    "usage show --group-by key --csv > usage.csv",
  ],
  options: (command) =>
    command
      .option("--month <month>", "month such as 2026-11; default: this month (UTC)")
      .option("--from <day>", "first day (UTC), in place of a month")
      .option("--to <day>", "last day (UTC), with --from; default: today")
      .option(
        "--group-by <groups>",
        "comma-separated: hour, day, week or month; key, user, group, model, upstream, session, tag:<name>",
      )
      .option("--top <count>", "number of the largest groups to show; one row sums up the others")
      .option("--order <figure>", "figure that --top goes by: cost (default), requests or tokens")
      .option("--key <id or name>", "only this API key's requests, by id or name")
      .option("--user <user>", "only this user's requests, by id, name or email address")
      .option("--group <group>", "only this group's requests, by id or name")
      .option("--model <id>", "only this model's requests")
      .option("--tag <tags>", "only with all of these tags: team=search,feature=autocomplete")
      .option("--session <name>", "only this session's requests, of those that are still listed")
      .option("--csv", "CSV on stdout"),
  async runInOrganization({ client, options, path }: OrganizationCommandCall<UsageOptions>) {
    const { month, from, to, top, order, model, tag, session } = options;
    const query = {
      month,
      from,
      to,
      group_by: options.groupBy,
      top,
      order,
      ...(await queryFormerOwners(client, path, options)),
      model,
      tag,
      session,
    };
    if (options.csv) return client.text("GET", `${path}/usage`, { query: { ...query, format: "csv" } });
    const usage = await client.call("GET", `${path}/usage`, { query });
    return { json: usage, text: (screen) => formatUsage(screen, usage) };
  },
};

type ExportOptions = ManagementOptions &
  TextOptions<"month" | "format" | "after" | "output"> & { readonly gzip?: true };

const exportUsage: OrganizationCommandRow = {
  usage: "export",
  description: "Export a month's usage.",
  examples: [
    "usage export --org Acme --month 2026-11 --format csv > usage.csv",
    "usage export --month 2026-11 --format focus --gzip --output usage.focus.csv.gz",
  ],
  options: (command) =>
    command
      .option("--month <month>", "month such as 2026-11; default: this month (UTC)")
      .addOption(
        command
          .createOption(
            "--format <format>",
            "csv (default), jsonl (default with --json) or focus (CSV with the columns of FOCUS 1.2)",
          )
          .choices(["csv", "jsonl", "focus"]),
      )
      .option("--gzip", "compressed output")
      .option("--after <row_id>", "row to continue after, if an export was interrupted")
      .option("--output <file>", "output file instead of stdout"),
  async runInOrganization({ client, options, path }: OrganizationCommandCall<ExportOptions>) {
    const { month, after, output } = options;
    const format = options.format ?? (options.json === true ? "jsonl" : "csv");
    if (options.json === true && format !== "jsonl") {
      throw new CommandError(`--json means --format jsonl. Remove --json or --format ${format}.`);
    }
    if (after !== undefined && options.gzip === true) {
      throw new CommandError(
        "A compressed export can't be continued. Remove --gzip, or start again without --after.",
      );
    }
    const query = { month, format, after, gzip: options.gzip === true ? "true" : undefined };
    const chunks = client.download(`${path}/usage/export`, { query });
    // Resuming appends to the file of the interrupted export.
    const flags = after === undefined ? "w" : "a";
    if (output === undefined) await pipeline(chunks, process.stdout, { end: false });
    else await pipeline(chunks, createWriteStream(output, { flags, mode: 0o600 }));
    return "";
  },
};

const statement: OrganizationCommandRow = {
  usage: "statement",
  description: "Show the statement of a month: spend by model, group and API key, and corrections.",
  hasTable: true,
  examples: ["usage statement --org Acme --month 2026-11", "usage statement --json"],
  options: (command) => command.option("--month <month>", "month such as 2026-11; default: this month (UTC)"),
  async runInOrganization({
    client,
    options,
    path,
  }: OrganizationCommandCall<ManagementOptions & TextOptions<"month">>) {
    const { month } = options;
    const found = await client.call("GET", `${path}/statement`, { query: { month } });
    return { json: found, text: (screen) => formatStatement(screen, found) };
  },
};

const STATEMENT_PARTS = { models: "MODEL", groups: "GROUP", keys: "API KEY" } as const;

function formatStatement(screen: Screen, found: JsonObject): string {
  const currency = String(found["currency"]);
  const amount: RecordColumn<JsonObject> = { header: `AMOUNT (${currency})`, cell: (line) => line["amount"] };
  const tables = Object.entries(STATEMENT_PARTS).map(([part, header]) => {
    const name: RecordColumn<JsonObject> = {
      header,
      cell: ({ name: own, id, others: furtherGroups }) =>
        furtherGroups === undefined ? (own ?? id ?? "(none)") : `(${formatValue(furtherGroups)} more)`,
    };
    const columns = [name, { header: "REQUESTS", cell: (line: JsonObject) => line["requests"] }, amount];
    return formatRecords(screen, columns, found[part] as readonly JsonObject[]);
  });
  const corrections = formatRecords(
    screen,
    [{ header: "CORRECTION", cell: (line: JsonObject) => line["reason"] }, amount],
    found["corrections"] as readonly JsonObject[],
  );
  const sums = [
    `Requests: ${String(found["usage_amount"])} ${currency}`,
    `Corrections: ${String(found["corrections_amount"])} ${currency}`,
    `Total of ${String(found["month"])}: ${String(found["total_amount"])} ${currency}`,
  ];
  return `${[...tables, corrections].join("\n")}\n${sums.join("\n")}\n`;
}

export const USAGE_COMMANDS: CommandGroup = {
  name: "usage",
  description: "Show, export and correct what an organization's requests used and cost.",
  rows: [show, statement, exportUsage, correct],
};

function formatUsage(screen: Screen, usage: JsonObject): string {
  const rows = usage["data"] as readonly JsonObject[];
  const currency = String(usage["currency"]);
  const groups = GROUPS.filter(({ field }) => rows.some((row) => field in row));
  const tagNames = Object.keys(rows[0]?.["tags"] ?? {});
  const ownerNames: Readonly<Record<string, (row: JsonObject) => string>> = {
    key_id: nameOwners(rows, "key"),
    user_id: nameOwners(rows, "user"),
    group_id: nameOwners(rows, "group"),
  };
  const formatGroup = (row: JsonObject, { field, none }: (typeof GROUPS)[number]): string => {
    if (typeof row[field] === "string") return ownerNames[field]?.(row) ?? row[field];
    return "others" in row ? `(${String(row["others"])} others)` : none;
  };
  const costs = formatExactAmounts(
    rows.map((row) => row["cost_microcents"]),
    currency,
  );
  const columns: readonly RecordColumn<JsonObject>[] = [
    ...groups.map((group) => ({ header: group.header, cell: (row: JsonObject) => formatGroup(row, group) })),
    ...tagNames.map((name) => ({
      header: name.toUpperCase(),
      cell: ({ tags }: JsonObject) => (tags as JsonObject)[name],
    })),
    { header: "REQUESTS", cell: ({ requests }) => requests },
    { header: "INPUT", cell: (row) => row["input_tokens"] },
    { header: "CACHED", cell: (row) => row["cached_input_tokens"] },
    { header: "OUTPUT", cell: (row) => row["output_tokens"] },
    { header: "COST", cell: (_, line) => costs[line] },
  ];
  const table = formatRecords(screen, columns, rows);
  const days = `${String(usage["from"])} to ${String(usage["to"])}`;
  const text = `Usage from ${days}${formatGap(usage)}\n\n${rows.length === 0 ? "No requests.\n" : table}`;
  return tagNames.length === 0 ? text : text + formatNotice(usage["tag_combinations"] as JsonObject);
}

/** Returns the names of keys, users or groups in a table, with short ids for duplicates. */
function nameOwners(rows: readonly JsonObject[], kind: "key" | OwnerKind): (row: JsonObject) => string {
  const names = new Map(rows.map((row) => [row[`${kind}_id`], row[`${kind}_name`]]));
  const bearers = new Map<unknown, number>();
  for (const name of names.values()) bearers.set(name, (bearers.get(name) ?? 0) + 1);
  return (row) => {
    const [id, name] = [row[`${kind}_id`], row[`${kind}_name`]];
    if (typeof name !== "string") return String(id);
    return (bearers.get(name) ?? 0) > 1 ? `${name} (${shortenId(String(id))})` : name;
  };
}

/** Hours and sessions are known only of requests that are still listed. */
function formatGap({ complete_from: completeFrom }: JsonObject): string {
  return typeof completeFrom === "string"
    ? `. Requests before ${completeFrom} are no longer listed and missing here`
    : "";
}

function formatNotice({ most, has_other: hasOther }: JsonObject): string {
  if (hasOther !== true) return "";
  return `\nMore than ${String(most)} combinations of tags: further combinations count as "other".\n`;
}
