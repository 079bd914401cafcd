/**
 * What each organization was charged, against what the model server counted for it. The victim's: to the microcent. The
 * hostile one's: request by request, within what docs/costs-and-caps.md says of answers that are broken off.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OUTPUT_MICROCENTS, PROMPT_MICROCENTS } from "../faults/fault-stack.ts";
import type { Stack } from "../support/stack.ts";
import type { ServedRequest } from "./upstream-program.ts";
import type { Asked } from "./victim.ts";

/** A line of the request log, as far as it is read here. */
export interface LoggedLine {
  readonly request_id: string;
  readonly organization_id: string;
  readonly outcome: string;
  readonly estimated: boolean;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_microcents: number;
}

/** Of a prompt's estimate, what a model's chat template may have been seen to add. */
const MAX_TEMPLATE_TOKENS = 4_096;
/** Of a request of which the upstream has seen nothing, what the body grows by on its way there. */
const MAX_GROWTH_BYTES = 1_024;

export function costOf({
  promptTokens,
  outputTokens,
}: Readonly<Record<"promptTokens" | "outputTokens", number>>): bigint {
  return BigInt(promptTokens) * PROMPT_MICROCENTS + BigInt(outputTokens) * OUTPUT_MICROCENTS;
}

export function addUp(asked: readonly Asked[]): bigint {
  return asked.reduce((sum, each) => sum + costOf(each), 0n);
}

/** What an organization was charged in this month. */
export async function readCharged(stack: Stack, organizationId: string): Promise<bigint> {
  return (await (await stack.store()).readSpend(organizationId, null)).organizationMicrocents;
}

export function readRequestLog(stack: Stack, organizationId: string): readonly LoggedLine[] {
  const folder = join(stack.dir, "data/requests");
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  return lines.filter((line) => line.includes(organizationId)).map((line) => JSON.parse(line) as LoggedLine);
}

export interface HostileAccount {
  readonly requests: number;
  readonly chargedMicrocents: bigint;
  /** What the model server counted for what it got of them. */
  readonly usedMicrocents: bigint;
  readonly problems: readonly string[];
}

/**
 * @param largestBytes Of a body that it has sent.
 * @param largestOutputTokens That it has asked for.
 */
export function checkHostileLines(
  lines: readonly LoggedLine[],
  served: readonly ServedRequest[],
  largest: { readonly bytes: number; readonly outputTokens: number },
): HostileAccount {
  const byId = new Map(served.map((each) => [each.requestId, each]));
  const problems: string[] = [];
  let charged = 0n;
  let used = 0n;
  for (const line of lines) {
    const own = byId.get(line.request_id);
    charged += BigInt(line.cost_microcents);
    if (own !== undefined) used += costOf(own);
    const problem = checkLine(line, own, largest);
    if (problem !== null) problems.push(`${problem}: ${JSON.stringify({ line, own })}`);
  }
  return { requests: lines.length, chargedMicrocents: charged, usedMicrocents: used, problems };
}

function checkLine(
  line: LoggedLine,
  own: ServedRequest | undefined,
  largest: { readonly bytes: number; readonly outputTokens: number },
): string | null {
  const cost = BigInt(line.cost_microcents);
  if (cost === 0n) return line.outcome === "complete" ? "a whole answer that costs nothing" : null;
  if (line.outcome === "complete" && !line.estimated) {
    if (own === undefined) return "charged, and nobody has served it";
    return cost === costOf(own) ? null : `${costOf(own)} was used`;
  }
  const bytes = own?.bytes ?? largest.bytes + MAX_GROWTH_BYTES;
  const most = {
    promptTokens: Math.max(own?.promptTokens ?? 0, bytes + MAX_TEMPLATE_TOKENS),
    outputTokens: own === undefined ? 0 : largest.outputTokens,
  };
  return cost <= costOf(most) ? null : `more than ${costOf(most)}, the most of what was broken off`;
}
