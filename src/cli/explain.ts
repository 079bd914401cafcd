import type { Command } from "commander";
import type { AdminClient, JsonObject } from "./management/admin-client.ts";
import { formatExactAmount } from "./management/amounts.ts";
import { CommandError } from "./management/command-error.ts";
import { formatValue } from "./management/table.ts";
import {
  addCommands,
  addOrganizationOption,
  findOrganization,
  type GlobalCommandRow,
  organizationPath,
} from "./management/management-command.ts";

const row: GlobalCommandRow = {
  usage: "explain <request>",
  description:
    "Why a request was refused (every check with its figures), or what it cost: tokens, prices, rounding.",
  examples: ["explain req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11", "explain req_… --org Acme --json"],
  options: addOrganizationOption,
  async run({ client, options, argument }) {
    const { organization, request } = await findRequest(client, argument, options.org);
    const currency = String(organization["currency"]);
    return { json: request, text: () => explain(request, String(organization["name"]), currency) };
  },
};

/** `explain <request>`: why a request was refused, or what it cost and how that comes about. */
export function addExplainCommand(program: Command): void {
  addCommands(program, [row]);
}

interface Found {
  readonly organization: JsonObject;
  readonly request: JsonObject;
}

/** In the organization that is named, or in the first that knows it. */
async function findRequest(client: AdminClient, id: string, wanted: string | undefined): Promise<Found> {
  const organizations =
    wanted === undefined ? await client.list("/api/organizations") : [await findOrganization(client, wanted)];
  for (const organization of organizations) {
    const path = `${organizationPath(organization)}/requests/${encodeURIComponent(id)}`;
    const request = await client.call("GET", path).catch((error: unknown) => {
      if (error instanceof Error && /request_not_found|no such request/i.test(error.message)) return null;
      throw error;
    });
    if (request !== null) return { organization, request };
  }
  throw new CommandError(
    `${id} is not among the recent requests. Of each organization about 10,000 are kept, and 2,000 that were refused at the admission; older ones are in the log of requests.`,
  );
}

/** Text for people. Exported for its tests. */
export function explain(request: JsonObject, organization: string, currency: string): string {
  const checks = request["checks"] as readonly JsonObject[];
  const price = checks.find((check) => check["name"] === "price");
  const refusals = checks.filter((check) => check["passed"] === false);
  const lines = [
    `${String(request["id"])}: ${String(request["route"])}, ${String(request["created_at"])}`,
    `  organization ${organization}, key ${String(request["key_id"])}, model ${formatValue(request["model"])}`,
    `  ${describeOutcome(request)}`,
    ...refusals.map((check) => `  refused by ${String(check["name"])}: ${describeFigures(check)}`),
    ...checks
      .filter((check) => check["passed"] === true && check !== price)
      .map((check) => `  passed ${String(check["name"])}: ${describeFigures(check)}`),
    ...(price === undefined ? [] : explainCost(request, price["figures"] as JsonObject)),
    `  cost: ${formatExactAmount(request["cost_microcents"], currency)}`,
  ];
  return `${lines.join("\n")}\n`;
}

function describeOutcome(request: JsonObject): string {
  const { status, error_code: code } = request as { status?: number | null; error_code?: string | null };
  if (status === null) {
    return "its worker died; another closed it at what was charged until then, at least its prompt";
  }
  if (status === 499) {
    return "its client went away before the end (499); what was generated until then is charged";
  }
  return code === null ? `answered with ${status}` : `answered with ${status} ${code}`;
}

function describeFigures(check: JsonObject): string {
  return Object.entries(check["figures"] as JsonObject)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");
}

const PARTS = [
  ["input", "input_tokens", "input_microcents_per_million"],
  ["cached input", "cached_input_tokens", "cached_input_microcents_per_million"],
  ["output", "output_tokens", "output_microcents_per_million"],
] as const;
const MILLION = 1_000_000n;

/** Each kind of token times its price; rounded up once, on the sum. */
function explainCost(request: JsonObject, prices: JsonObject): string[] {
  let sum = 0n;
  const lines = PARTS.map(([name, tokens, price]) => {
    const product = BigInt(Number(request[tokens])) * BigInt(String(prices[price]));
    sum += product;
    return `  ${name}: ${String(request[tokens])} tokens × ${String(prices[price])} = ${formatMillionths(product)} microcents`;
  });
  const rounded = (sum + MILLION - 1n) / MILLION;
  const counted =
    request["estimated"] === true
      ? "estimated: the upstream told no usable usage"
      : "as the upstream counted";
  return [
    `  tokens ${counted}; prices in microcents per million tokens, as they were when the request was admitted`,
    ...lines,
    `  sum: ${formatMillionths(sum)}, rounded up to ${rounded} microcents`,
  ];
}

function formatMillionths(product: bigint): string {
  const fraction = String(product % MILLION)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${product / MILLION}${fraction === "" ? "" : `.${fraction}`}`;
}
