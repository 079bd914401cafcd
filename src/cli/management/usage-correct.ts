/** `usage correct`: an amount, or what did not pass the gateway. */
import { TOKEN_NAMES } from "../../usage/token-usage.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatAmount, formatExactAmount, parseCorrection, parseTokenCounts } from "./amounts.ts";
import { CommandError } from "./command-error.ts";
import { findKey } from "./find.ts";
import type {
  ManagementOptions,
  OrganizationCommandCall,
  OrganizationCommandRow,
  TextOptions,
} from "./management-command.ts";
import { convertNone, parseWhole } from "./options.ts";
import { describeOutsideUsage } from "./outside-usage.ts";
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
    "Adds a signed amount to this month's spend, or the price of tokens that did not pass the gateway, with a reason, " +
    "which the audit log keeps. For the operator.",
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
      .option("--model <id>", "in place of an amount: whose tokens are charged")
      .option(
        "--tokens <counts>",
        `${Object.values(TOKEN_NAMES)
          .map((name) => name.replace(/_tokens$/, ""))
          .join(", ")}, each with =count`,
        parseTokenCounts,
      )
      .option("--requests <count>", "how many requests' fees are in it; 1 when left out", parseWhole)
      .option("--service-tier <name>", "of the model's prices, such as batch")
      .option("--above-prompt-tokens <size>", "tier by size of prompt that the prompts are in", parseWhole)
      .requiredOption("--reason <text>", "why")
      .option(
        "--key <id or name>",
        "whose spend it is besides the organization's, and so its user's and its group's",
      )
      .option("--user <user>", "whose it is besides, by id, name or mail, or none; the key's when left out")
      .option(
        "--group <group>",
        "whose it is besides, by id or name, or none; the key's or the user's when left out",
      )
      .option("--idempotency-key <text>", "a repeat with the same one changes nothing"),
  async runInOrganization(call: OrganizationCommandCall<CorrectionOptions>) {
    const { client, options, organization, path } = call;
    const what = readWhat(options);
    const key = options.key === undefined ? null : await findKey(client, path, options.key);
    const { idempotencyKey, user, group } = options;
    const owners = await resolveOwners(client, path, {
      user_id: convertNone(user),
      group_id: convertNone(group),
    });
    const corrected = await client.call("POST", `${path}/spend-corrections`, {
      body: { ...what, reason: options.reason, ...(key === null ? {} : { key_id: key["id"] }), ...owners },
      ...(idempotencyKey === undefined ? {} : { headers: { "idempotency-key": idempotencyKey } }),
    });
    return { json: corrected, text: () => formatCorrection(corrected, String(organization["currency"])) };
  },
};

/** What is left out goes away with the JSON. @throws CommandError when it is neither an amount nor tokens of a model, or both. */
function readWhat(options: CorrectionOptions): JsonObject {
  const { amount, model, tokens, requests, serviceTier, abovePromptTokens } = options;
  const ofUsage = [model, tokens, requests, serviceTier, abovePromptTokens];
  const hasUsage = ofUsage.some((option) => option !== undefined);
  if (amount !== undefined && !hasUsage) return { amount_microcents: amount };
  if (amount !== undefined || model === undefined || tokens === undefined) {
    throw new CommandError("Give --amount, or --model and --tokens in its place.");
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
  const what = corrected["repeated"] === true ? "Was corrected before; nothing changed now." : "Corrected.";
  const spent = formatAmount(corrected["organization_spent_cents"], currency);
  return `${what}${detail} The organization has spent ${spent} in ${String(corrected["month"])}.\n`;
}
