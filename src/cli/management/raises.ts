/** `raise …`: caps that are higher until a moment. */
import { LIMIT_PERIODS } from "../../settings/limits.ts";
import { formatRecords, type RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatAmount, parseAmount } from "./amounts.ts";
import { findRaise } from "./find.ts";
import { addLimitedOwnerOptions, findLimitedOwner, type LimitedOwnerOptions } from "./limited-owner.ts";
import {
  type CommandGroup,
  type OrganizationCommandCall,
  type OrganizationCommandRow,
} from "./management-command.ts";
import { convertNone } from "./options.ts";
import { formatRaise, liveRaisesOf } from "./raise-texts.ts";
import { formatSecond, parseFutureTime } from "./times.ts";

type CreateOptions = LimitedOwnerOptions & {
  readonly period: string;
  readonly amount: unknown;
  readonly until: unknown;
  readonly reason: string;
};

const create: OrganizationCommandRow = {
  usage: "create",
  description: "Raises a cap until a moment. The cap itself stays as it is, so nobody has to set it back.",
  examples: [
    'raise create --org Acme --key ci --period day --amount 5.00 --until 2h --reason "release"',
    'raise create --user ann@example.com --period week --amount 50.00 --until 2026-12-04 --reason "launch"',
    'raise create --org Acme --period month --amount 500 --until 7d --reason "evaluation"',
  ],
  options: (command) =>
    addLimitedOwnerOptions(command, "whose cap it is")
      .requiredOption("--period <period>", `of the cap: ${LIMIT_PERIODS.join(", ")}`)
      .requiredOption("--amount <amount>", "by how much: 50.00", parseAmount)
      .requiredOption(
        "--until <time>",
        "day (UTC, its beginning) or time from which the cap is what it was, or 12h, 7d from now",
        parseFutureTime,
      )
      .requiredOption("--reason <text>", "why, for people"),
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
    const text = `Raised ${owner.name} by ${String(made["id"])}: ${raised}.\n`;
    return { json: made, text: () => text };
  },
};

const list: OrganizationCommandRow = {
  usage: "list",
  description: "The raises of a key, a user, a group or the organization.",
  hasTable: true,
  examples: ["raise list --org Acme --key ci", "raise list --org Acme"],
  options: (command) => addLimitedOwnerOptions(command, "whose they are"),
  async runInOrganization(call: OrganizationCommandCall<LimitedOwnerOptions>) {
    const { record } = await findLimitedOwner(call);
    const raises = liveRaisesOf(record["raises"]);
    const json = { data: raises, has_more: false, next: null };
    return { json, text: (screen) => formatRecords(screen, columnsOf(call.organization), raises) };
  },
};

const remove: OrganizationCommandRow = {
  usage: "delete <raise>",
  description: "Takes a raise back before it has ended.",
  examples: ["raise delete raise_… --org Acme --key ci"],
  options: (command) => addLimitedOwnerOptions(command, "whose it is"),
  async runInOrganization(call: OrganizationCommandCall<LimitedOwnerOptions>) {
    const { client, argument, organization } = call;
    const { record, path, name } = await findLimitedOwner(call);
    const found = findRaise(liveRaisesOf(record["raises"]), argument);
    await client.call("DELETE", `${path}/raises/${String(found["id"])}`);
    const text = `Took the raise of ${name} back: ${formatRaise(found, String(organization["currency"]))}.\n`;
    return { json: { id: found["id"], deleted: true }, text: () => text };
  },
};

export const RAISE_COMMANDS: CommandGroup = {
  name: "raise",
  description: "Temporary raises of caps: of a key, a user, a group or an organization.",
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
    { header: "MADE BY", cell: ({ created_by: by }) => formatAuthor(by as JsonObject) },
  ];
}

function formatAuthor({ type, name }: JsonObject): string {
  return type === "operator" ? "operator" : String(name);
}
