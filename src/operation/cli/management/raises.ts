/** `raise …`: temporary increases of caps. */
import { nameLimit } from "../../../shared/settings/limit-words.ts";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { convertNone, formatAmount, formatSecond, parseAmount, parseFutureTime } from "./option-values.ts";
import { findRaise } from "./find.ts";
import { addLimitedOwnerOptions, findLimitedOwner, type LimitedOwnerOptions } from "./owners.ts";
import type { CommandGroup, OrganizationCommandCall, OrganizationCommandRow } from "./management-command.ts";
import { formatRaise, liveRaisesOf } from "./settings.ts";

type CreateOptions = LimitedOwnerOptions & {
  readonly period: LimitPeriod;
  readonly amount: unknown;
  readonly until: unknown;
  readonly reason: string;
};

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Increase a cap until a given time.",
  examples: [
    'raise create --org Acme --key ci --period day --amount 5.00 --until 2h --reason "release"',
    'raise create --user ann@example.com --period week --amount 50.00 --until 2026-12-04 --reason "launch"',
    'raise create --org Acme --period month --amount 500 --until 7d --reason "evaluation"',
  ],
  options: (command) =>
    addLimitedOwnerOptions(command, "owner of the cap")
      .requiredOption("--period <period>", `period of the cap: ${LIMIT_PERIODS.join(", ")}`)
      .requiredOption("--amount <amount>", "amount to add: 50.00", parseAmount)
      .requiredOption(
        "--until <time>",
        "end of the increase: a day (UTC), a time, or 12h, 7d from now",
        parseFutureTime,
      )
      .requiredOption("--reason <text>", "reason for the increase"),
  async runInOrganization(call: OrganizationCommandCall<CreateOptions>) {
    const { client, options, organization } = call;
    const owner = await findLimitedOwner(call);
    const made = await client.call("POST", `${owner.path}/raises`, {
      body: {
        period: options.period,
        add_cents: convertNone(options.amount),
        expires_at: convertNone(options.until),
        reason: options.reason,
      },
    });
    const raised = formatRaise(made, String(organization["currency"]));
    const cap = nameLimit({ period: options.period, kind: "cap" });
    const text = `Increased the ${cap} of ${owner.name}: ${raised} (${String(made["id"])}).\n`;
    return { json: made, text: () => text };
  },
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "List the temporary increases of an API key, user, group or the organization.",
  hasTable: true,
  examples: ["raise list --org Acme --key ci", "raise list --org Acme"],
  options: (command) => addLimitedOwnerOptions(command, "owner of the increases"),
  async runInOrganization(call: OrganizationCommandCall<LimitedOwnerOptions>) {
    const { record } = await findLimitedOwner(call);
    const raises = liveRaisesOf(record["raises"]);
    const json = { data: raises, has_more: false, next: null };
    return { json, text: (screen) => formatRecords(screen, columnsOf(call.organization), raises) };
  },
};

const remove: OrganizationCommandRow = {
  usage: "delete <raise>",
  description: "Remove a temporary increase before it ends.",
  examples: ["raise delete raise_… --org Acme --key ci"],
  options: (command) => addLimitedOwnerOptions(command, "owner of the increase"),
  async runInOrganization(call: OrganizationCommandCall<LimitedOwnerOptions>) {
    const { client, argument, organization } = call;
    const { record, path, name } = await findLimitedOwner(call);
    const found = findRaise(liveRaisesOf(record["raises"]), argument);
    await client.call("DELETE", `${path}/raises/${String(found["id"])}`);
    const text = `Removed the temporary increase of ${name}: ${formatRaise(found, String(organization["currency"]))}.\n`;
    return { json: { id: found["id"], deleted: true }, text: () => text };
  },
};

export const RAISE_COMMANDS: CommandGroup = {
  name: "raise",
  description: "Manage temporary increases of caps: of an API key, user, group or organization.",
  rows: [create, list, remove],
};

function columnsOf(organization: JsonObject): readonly RecordColumn<JsonObject>[] {
  const currency = String(organization["currency"]);
  return [
    { header: "ID", cell: ({ id }) => id },
    { header: "PERIOD", cell: ({ period }) => period },
    { header: "BY", cell: ({ add_cents: cents }) => formatAmount(cents, currency) },
    { header: "UNTIL", cell: ({ expires_at: expiresAt }) => formatSecond(expiresAt) },
    { header: "REASON", cell: ({ reason }) => reason },
    { header: "CREATED BY", cell: ({ created_by: by }) => formatAuthor(by as JsonObject) },
  ];
}

function formatAuthor({ type, name }: JsonObject): string {
  return type === "operator" ? "operator" : String(name);
}
