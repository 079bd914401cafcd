/** `limit …`: one limit of an owner at a time; `--limits` of its own command sets all of them. */
import type { Command } from "commander";
import { type Limit, LIMIT_KINDS, LIMIT_PERIODS, MEMBER_LIMITS } from "../../settings/limits.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatAmount, parseAmount } from "./amounts.ts";
import { CommandError } from "./command-error.ts";
import {
  type CommandGroup,
  type CommandOutput,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { convertNone, parseChoice } from "./options.ts";
import { addLimitedOwnerOptions, findLimitedOwner, type LimitedOwnerOptions } from "./limited-owner.ts";

type MembersOptions = LimitedOwnerOptions & { readonly members?: true };
type OneOptions = MembersOptions & { readonly period: Limit["period"]; readonly kind: Limit["kind"] };
type SetOptions = OneOptions & { readonly amount: unknown };

const set: OrganizationCommandRow = {
  usage: "set",
  description: "Sets one limit; the others of its owner stay.",
  examples: [
    "limit set --org Acme --key ci --period day --amount 5.00",
    "limit set --group Search --period month --amount 2000",
    "limit set --group Search --members --period week --amount 20",
    "limit set --org Acme --period total --kind budget --amount 50",
  ],
  options: (command) =>
    addOneOptions(command).requiredOption(
      "--amount <amount>",
      "in the organization's currency: 5.00",
      parseAmount,
    ),
  async runInOrganization(call: OrganizationCommandCall<SetOptions>) {
    const cents = convertNone(call.options.amount);
    if (typeof cents !== "number") throw new CommandError("`limit remove` takes a limit away.");
    const { period, kind } = call.options;
    return change(call, (others) => [...others, { period, kind, cents }]);
  },
};

const remove: OrganizationCommandRow = {
  usage: "remove",
  description: "Takes one limit away; the others of its owner stay.",
  examples: ["limit remove --org Acme --key ci --period day"],
  options: addOneOptions,
  runInOrganization: (call: OrganizationCommandCall<OneOptions>) => change(call, (others) => others),
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "The limits of a key, a user, a group or the organization.",
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
  description: "Limits of a day, a week, a month and in total: of a key, a user, a group or an organization.",
  rows: [set, remove, list],
};

function addOwnerOptions(command: Command): Command {
  return addLimitedOwnerOptions(command, "whose limit it is").option(
    "--members",
    "of a group or the organization: what each member has in place of what all share",
  );
}

function addOneOptions(command: Command): Command {
  return addOwnerOptions(command)
    .requiredOption("--period <period>", LIMIT_PERIODS.join(", "), parseChoice(LIMIT_PERIODS))
    .option(
      "--kind <kind>",
      "cap, which refuses, or budget, which only tells",
      parseChoice(LIMIT_KINDS),
      "cap",
    );
}

/** @param withOthers From those of another period or kind to all. */
async function change(
  call: OrganizationCommandCall<OneOptions>,
  withOthers: (others: readonly Limit[]) => readonly Limit[],
): Promise<CommandOutput> {
  const { client, options, organization } = call;
  const { path } = await findLimitedOwner(call);
  // Limits are given whole: what others have set since it was read is not overwritten.
  const { body: record, etag } = await client.read(path);
  const { period, kind } = options;
  const others = limitsOf(record, options).filter((limit) => limit.period !== period || limit.kind !== kind);
  const body = { [fieldOf(options)]: withOthers(others) };
  const changed = await client.call("PATCH", path, { body, headers: { "if-match": etag } });
  return formatLimits(limitsOf(changed, options), organization);
}

function fieldOf({ members }: MembersOptions): "limits" | typeof MEMBER_LIMITS {
  return members === true ? MEMBER_LIMITS : "limits";
}

/** @throws CommandError where members are asked for that there are none of. */
function limitsOf(record: JsonObject, options: MembersOptions): readonly Limit[] {
  const limits = record[fieldOf(options)];
  if (limits !== undefined) return limits as readonly Limit[];
  throw new CommandError("--members is of a group, or of the organization (without --key and --user).");
}

function formatLimits(limits: readonly Limit[], organization: JsonObject): CommandOutput {
  const currency = String(organization["currency"]);
  const columns: readonly RecordColumn<JsonObject>[] = [
    { header: "PERIOD", cell: ({ period }) => period },
    { header: "KIND", cell: ({ kind }) => kind },
    { header: "AMOUNT", cell: ({ cents }) => formatAmount(cents, currency) },
  ];
  const json = { data: limits, has_more: false, next: null };
  return { json, text: (screen) => formatRecords(screen, columns, limits) };
}
