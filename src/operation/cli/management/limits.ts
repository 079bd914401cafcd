/** `limit …`: changes one limit of an owner at a time; `--limits` of the owner's command replaces all of them. */
import { type Command, InvalidArgumentError } from "commander";
import { nameLimit } from "../../../shared/settings/limit-words.ts";
import { MEMBER_LIMITS } from "../../../shared/settings/limit-settings.ts";
import {
  createLimit,
  type Limit,
  LIMIT_KINDS,
  LIMIT_PERIODS,
  parseAlerts,
} from "../../../shared/settings/limits.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { convertNone, formatAmount, parseAmount, parseChoice } from "./option-values.ts";
import { CommandError } from "./command-error.ts";
import type {
  CommandGroup,
  CommandOutput,
  OrganizationCommandCall,
  OrganizationCommandRow,
} from "./management-command.ts";
import { addLimitedOwnerOptions, findLimitedOwner, type LimitedOwnerOptions } from "./owners.ts";

type MembersOptions = LimitedOwnerOptions & { readonly members?: true };
type OneOptions = MembersOptions & { readonly period: Limit["period"]; readonly kind: Limit["kind"] };
type SetOptions = OneOptions & { readonly amount: unknown; readonly alerts?: readonly number[] | null };

const set: OrganizationCommandRow = {
  usage: "set",
  description: "Set one cap or budget. Other limits stay.",
  examples: [
    "limit set --org Acme --key ci --period day --amount 5.00",
    "limit set --group Search --period month --amount 2000",
    "limit set --group Search --members --period week --amount 20",
    "limit set --org Acme --period total --kind budget --amount 50 --alerts 50/75",
  ],
  options: (command) =>
    addOneOptions(command)
      .requiredOption("--amount <amount>", "in the organization's currency: 5.00", parseAmount)
      .option(
        "--alerts <percents>",
        "percentages that alert before 100: 50/75, 100 for none, or default",
        parseAlertsOption,
      ),
  async runInOrganization(call: OrganizationCommandCall<SetOptions>) {
    const cents = convertNone(call.options.amount);
    if (typeof cents !== "number") {
      throw new CommandError("--amount must be an amount. Remove a limit with `limit remove`.");
    }
    const { period, kind } = call.options;
    const { alerts } = call.options;
    return change(call, (otherLimits, before) => [
      ...otherLimits,
      createLimit({ period, kind, cents }, alerts === undefined ? before?.alerts : (alerts ?? undefined)),
    ]);
  },
};

const remove: OrganizationCommandRow = {
  usage: "remove",
  description: "Remove one cap or budget. Other limits stay.",
  examples: ["limit remove --org Acme --key ci --period day"],
  options: addOneOptions,
  runInOrganization: (call: OrganizationCommandCall<OneOptions>) =>
    change(call, (otherLimits) => otherLimits),
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "List the caps and budgets of an API key, user, group or the organization.",
  hasTable: true,
  examples: ["limit list --org Acme --key ci", "limit list --group Search --members"],
  options: addOwnerOptions,
  async runInOrganization(call: OrganizationCommandCall<MembersOptions>) {
    const { record } = await findLimitedOwner(call);
    return formatLimits(limitsOf(record, call.options), call.organization);
  },
};

export const LIMIT_COMMANDS: CommandGroup = {
  name: "limit",
  description:
    "Manage caps and budgets by day, week, month and in total: of an API key, user, group or organization.",
  rows: [set, remove, list],
};

function addOwnerOptions(command: Command): Command {
  return addLimitedOwnerOptions(command, "owner of the limit").option(
    "--members",
    "limit of each member instead of the shared one; with --group or for the organization",
  );
}

function addOneOptions(command: Command): Command {
  return addOwnerOptions(command)
    .requiredOption("--period <period>", LIMIT_PERIODS.join(", "), parseChoice(LIMIT_PERIODS))
    .option(
      "--kind <kind>",
      "cap (blocks requests) or budget (alerts only)",
      parseChoice(LIMIT_KINDS),
      "cap",
    );
}

/** Null: default. @throws InvalidArgumentError */
function parseAlertsOption(text: string): readonly number[] | null {
  if (text === "default") return null;
  try {
    return parseAlerts(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** @param merge Computes the whole list from the limits of other periods and kinds, and the limit before. */
async function change(
  call: OrganizationCommandCall<OneOptions>,
  merge: (otherLimits: readonly Limit[], before: Limit | undefined) => readonly Limit[],
): Promise<CommandOutput> {
  const { client, options, organization } = call;
  const { path, name } = await findLimitedOwner(call);
  // The list replaces the whole list: the version prevents overwriting others' changes.
  const { body: record, etag } = await client.read(path);
  const { period, kind } = options;
  const isSelected = (limit: Limit): boolean => limit.period === period && limit.kind === kind;
  const before = limitsOf(record, options);
  const otherLimits = before.filter((limit) => !isSelected(limit));
  const body = { [fieldOf(options)]: merge(otherLimits, before.find(isSelected)) };
  const changed = await client.call("PATCH", path, { body, headers: { "if-match": etag } });
  const after = limitsOf(changed, options);
  const currency = String(organization["currency"]);
  const amountIn = (limits: readonly Limit[]): string =>
    formatAmount(limits.find(isSelected)?.cents ?? null, currency);
  const owner = options.members === true ? `each member of ${name}` : name;
  const limit = `${nameLimit({ period, kind })} of ${owner}`;
  return formatLimits(
    after,
    organization,
    `Set the ${limit} to ${amountIn(after)} (was ${amountIn(before)}).\n\n`,
  );
}

/** Formats "50/75/100 %", or "default". */
function formatAlertsCell(alerts: unknown): string {
  return Array.isArray(alerts) ? `${[...alerts, 100].join("/")} %` : "default";
}

function fieldOf({ members }: MembersOptions): "limits" | typeof MEMBER_LIMITS {
  return members === true ? MEMBER_LIMITS : "limits";
}

/** @throws CommandError if member limits are requested for an owner without members. */
function limitsOf(record: JsonObject, options: MembersOptions): readonly Limit[] {
  const limits = record[fieldOf(options)];
  if (limits !== undefined) return limits as readonly Limit[];
  throw new CommandError(
    "--members works only with --group or for the organization, without --key and --user.",
  );
}

function formatLimits(limits: readonly Limit[], organization: JsonObject, heading = ""): CommandOutput {
  const currency = String(organization["currency"]);
  const columns: readonly RecordColumn<JsonObject>[] = [
    { header: "PERIOD", cell: ({ period }) => period },
    { header: "KIND", cell: ({ kind }) => kind },
    { header: "AMOUNT", cell: ({ cents }) => formatAmount(cents, currency) },
    { header: "ALERTS AT", cell: ({ alerts }) => formatAlertsCell(alerts) },
  ];
  const json = { data: limits, has_more: false, next: null };
  return { json, text: (screen) => heading + formatRecords(screen, columns, limits) };
}
