/**
 * Charges of requests that end with their first charge. Charges of one turn with the same usage row share one
 * command (`lua/charge-single.lua`).
 */
import { expiryOf } from "../../../shared/time/calendar.ts";
import { countFiredAlerts, type StoreContext } from "../context.ts";
import { trackChargeReplies } from "./track-charge-replies.ts";
import { chargedKeys, requestKey, tagCombinationsKey } from "../redis/keys.ts";
import { textAt, unknownOutcome } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { listOf } from "../redis/row-layouts.ts";
import type { RequestIdentity } from "../../../shared/stored/settlement.ts";
import type { FormattedCharge } from "./formatted-charge.ts";
import { formatTokenDifferences } from "./token-buckets.ts";

/**
 * Returns whether the charge was applied. If not, the request has a record or occurs twice in this turn, and
 * nothing was changed.
 */
export function chargeSingle(context: StoreContext, charge: FormattedCharge): Promise<boolean> {
  const { keyId, day, model, tags, tagRow, currency, owners, usedTokens } = charge.input;
  // The day implies the month, and a key its organization.
  const row = [keyId, day, model, tagRow, currency, owners, tags, usedTokens?.buckets].join("\n");
  return context.singleCharges.run(row, charge, (charges) => chargeAll(context, charge.input, charges));
}

/** @param row Any charge of the batch; names the usage row that all share. */
async function chargeAll(
  context: StoreContext,
  row: RequestIdentity,
  charges: readonly FormattedCharge[],
): Promise<boolean[]> {
  const once = new Map(charges.map((charge) => [charge.input.requestId, charge]));
  const isCharged = await chargeRow(context, row, [...once.values()]);
  return charges.map((charge) => isCharged && once.get(charge.input.requestId) === charge);
}

/** Charges all requests, or none if one of them has a record. */
async function chargeRow(
  context: StoreContext,
  { organizationId, keyId, month, day, model, tags, tagRow, currency, owners }: RequestIdentity,
  charges: readonly FormattedCharge[],
): Promise<boolean> {
  const shared = listOf["single-charges"]<string | readonly string[]>({
    keyId,
    month,
    day,
    model,
    tags: tags ?? "",
    tagRow: tagRow ?? "",
    expiresAtMs: String(expiryOf(month, context.usageMonths)),
    currency: currency ?? "",
    owners: owners ?? "",
    figuresOfAll: sumOf(charges),
  });
  const ofEach = charges.flatMap(({ input, figures, entry }) =>
    listOf["single-charge"]({
      id: input.requestId,
      seq: String(input.sequence),
      figures: figures.join(" "),
      entry,
    }),
  );
  const command = context.client.igwChargeSingle({
    combinations: tagCombinationsKey(organizationId, month),
    sharedText: JSON.stringify([...shared, ...listTokens({ organizationId, keyId, owners }, charges)]),
    furtherKeys: charges.map(({ input }) => requestKey(organizationId, input.requestId)),
    furtherArguments: ofEach,
    ...chargedKeys({ organizationId, keyId, day }),
  });
  const inputs = charges.map(({ input }) => input);
  const reply = await trackChargeReplies(context, inputs, command);
  const outcome = textAt(reply, OUTCOME);
  if (outcome !== "applied" && outcome !== "on_record") throw unknownOutcome(outcome);
  if (outcome === "applied") countFiredAlerts(context, reply, AT.chargedSingle.alertsFired);
  return outcome === "applied";
}

/**
 * Returns, for each token bucket (all charges share them): its hash, its count, and the difference from the
 * tokens taken.
 */
function listTokens(
  request: Pick<RequestIdentity, "organizationId" | "keyId" | "owners">,
  charges: readonly FormattedCharge[],
): readonly string[] {
  const shared = charges[0]?.input.usedTokens;
  if (shared === undefined) return [];
  let [input, output, returned] = [0, 0, 0];
  for (const { usedTokens } of charges.map((charge) => charge.input)) {
    input += (usedTokens?.input ?? 0) - (usedTokens?.prompt ?? 0);
    output += usedTokens?.output ?? 0;
    returned += usedTokens?.reserved ?? 0;
  }
  return formatTokenDifferences(request, shared, { input, output, returned });
}

/** Returns the sum of each figure. Uses bigint: a sum may exceed a safe integer, and Redis adds 64 bits. */
function sumOf(charges: readonly FormattedCharge[]): readonly string[] {
  return charges
    .map(({ figures }) => figures)
    .reduce((sums, figures) => sums.map((sum, at) => String(BigInt(sum) + BigInt(figures[at] ?? "0"))));
}
