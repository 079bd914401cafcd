/** `usage correct`: corrects spend by an amount, or by usage outside of the gateway. */
import { TOKEN_NAMES } from "../../../shared/usage/token-usage.ts";
import type { JsonObject } from "./admin-client.ts";
import {
  convertNone,
  formatAmount,
  formatExactAmount,
  parseCorrection,
  parseTokenCounts,
  parseWhole,
} from "./option-values.ts";
import { CommandError } from "./command-error.ts";
import { findKey } from "./find.ts";
import type {
  ManagementOptions,
  OrganizationCommandCall,
  OrganizationCommandRow,
  TextOptions,
} from "./management-command.ts";
import { resolveOwners } from "./owners.ts";

type CorrectionOptions = ManagementOptions &
  TextOptions<"model" | "serviceTier" | "key" | "user" | "group" | "idempotencyKey"> & {
    readonly amount?: number;
    readonly tokens?: Readonly<Record<string, number>>;
    readonly requests?: number;
    readonly abovePromptTokens?: number;
    readonly reason: string;
  };

export const correct: OrganizationCommandRow = {
  usage: "correct",
  description:
    "Add a signed amount, or the price of tokens used elsewhere, to this month's spend. For the operator.",
  examples: [
    'usage correct --org Acme --amount -12.50 --reason "refund, ticket 42"',
    'usage correct --org Acme --key ci --amount -0.00125 --reason "request req_… failed"',
    'usage correct --org Acme --user "Zoë Bell" --amount -5.00 --reason "refund, ticket 43"',
    "usage correct --org Acme --model acme/echo-small --tokens input=1200000,output=80000 --service-tier batch " +
      '--idempotency-key batch-7 --reason "nightly batch"',
  ],
  options: (command) =>
    command
      .option("--amount <amount>", "in the organization's currency; a credit is negative", parseCorrection)
      .option("--model <id>", "model whose tokens are charged, instead of an amount")
      .option(
        "--tokens <counts>",
        `${Object.values(TOKEN_NAMES)
          .map((name) => name.replace(/_tokens$/, ""))
          .join(", ")}, each with =count`,
        parseTokenCounts,
      )
      .option("--requests <count>", "number of requests whose fees are charged; default: 1", parseWhole)
      .option("--service-tier <name>", "service tier of the model's prices, such as batch")
      .option("--above-prompt-tokens <size>", "price tier by prompt size", parseWhole)
      .requiredOption("--reason <text>", "reason for the audit log")
      .option(
        "--key <id or name>",
        "API key to correct, with its user and group; default: only the organization",
      )
      .option(
        "--user <user>",
        "user to correct, by id, name or email address, or none; default: the API key's",
      )
      .option("--group <group>", "group to correct, by id or name, or none; default: the API key's or user's")
      .option("--idempotency-key <text>", "id of this correction: a repeat changes nothing"),
  async runInOrganization(call: OrganizationCommandCall<CorrectionOptions>) {
    const { client, options, organization, path } = call;
    const correction = readOwners(options);
    const key = options.key === undefined ? null : await findKey(client, path, options.key);
    const { idempotencyKey, user, group } = options;
    const owners = await resolveOwners(client, path, {
      user_id: convertNone(user),
      group_id: convertNone(group),
    });
    const corrected = await client.call("POST", `${path}/spend-corrections`, {
      body: {
        ...correction,
        reason: options.reason,
        ...(key === null ? {} : { key_id: key["id"] }),
        ...owners,
      },
      ...(idempotencyKey === undefined ? {} : { headers: { "idempotency-key": idempotencyKey } }),
    });
    return { json: corrected, text: () => formatCorrection(corrected, String(organization["currency"])) };
  },
};

/**
 * Builds the body; undefined fields are omitted by JSON. @throws CommandError unless either an amount or
 * tokens of a model are given.
 */
function readOwners(options: CorrectionOptions): JsonObject {
  const { amount, model, tokens, requests, serviceTier, abovePromptTokens } = options;
  const ofUsage = [model, tokens, requests, serviceTier, abovePromptTokens];
  const hasUsage = ofUsage.some((option) => option !== undefined);
  if (amount !== undefined && !hasUsage) return { amount_microcents: amount };
  if (amount !== undefined || model === undefined || tokens === undefined) {
    throw new CommandError("Pass --amount, or --model and --tokens.");
  }
  const counts = Object.entries(tokens).map(([name, count]) => [`${name}_tokens`, count] as const);
  const usage = {
    model,
    input_tokens: 0,
    output_tokens: 0,
    ...Object.fromEntries(counts),
    requests,
    service_tier: serviceTier,
    above_prompt_tokens: abovePromptTokens,
  };
  return { outside_usage: usage };
}

function formatCorrection(corrected: JsonObject, currency: string): string {
  const usage = corrected["outside_usage"] as JsonObject | null;
  const amount = formatExactAmount(corrected["amount_microcents"], currency);
  const detail = usage === null ? "" : ` ${describeOutsideUsage(usage)}: ${amount}.`;
  const subject =
    corrected["repeated"] === true ? "This correction was made before; nothing changed." : "Corrected.";
  const spent = formatAmount(corrected["organization_spent_cents"], currency);
  return `${subject}${detail} The organization has spent ${spent} in ${String(corrected["month"])}.\n`;
}

/**
 * Formats "Outside usage: 1000 input, 50 output tokens of acme/echo-small at batch" from a response or the
 * audit log.
 */
export function describeOutsideUsage(usage: JsonObject): string {
  const countOf = (name: string): number => Number(usage[name] ?? 0);
  const cached = countOf("cached_input_tokens");
  const counts = [
    `${countOf("input_tokens")} input`,
    ...(cached === 0 ? [] : [`${cached} cached input`]),
    `${countOf("output_tokens")} output tokens`,
  ];
  const tier = usage["service_tier"];
  return `Outside usage: ${counts.join(", ")} of ${String(usage["model"])}${typeof tier === "string" ? ` at ${tier}` : ""}`;
}
