/** Recovers usage that is missing after Redis was restored from an older snapshot. */
import { createHash } from "node:crypto";
import type { StoreContext } from "../context.ts";
import { openRequestsKey, organizationKey, tagCombinationsKey, usageKey } from "../redis/keys.ts";
import { expiryOf } from "../../../shared/time/calendar.ts";
import { amountAt, formatCount, parseArray, textAt, unknownOutcome } from "../redis/parse-reply.ts";
import type { LoggedUsageRows, RaiseUsageResult, UsageRow } from "../../../shared/stored/reporting.ts";
import { OTHER_TAGS } from "../../../shared/usage/tags.ts";
import { formatFigures } from "./row-figures.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { listOf } from "../redis/row-layouts.ts";

/** @see UsageStore.raiseUsage */
export async function raiseUsage(
  context: StoreContext,
  organizationId: string,
  { day, keyId, owners, model, rows }: LoggedUsageRows,
  tagsInRedis: readonly string[],
): Promise<RaiseUsageResult> {
  const month = day.slice(0, 7);
  const logged = new Set(rows.map(({ tags }) => tags));
  const otherTags = tagsInRedis.filter((tags) => !logged.has(tags));
  const reply = parseArray(
    await context.client.igwRaiseUsage({
      usage: usageKey(organizationId, day),
      openRequests: openRequestsKey(organizationId),
      combinations: tagCombinationsKey(organizationId, month),
      organization: organizationKey(organizationId),
      keyId,
      model,
      expiresAtMs: String(expiryOf(month, context.usageMonths)),
      owners,
      day,
      loggedRows: formatCount(rows.length),
      furtherArguments: [...rows.flatMap(formatRow), ...otherTags.map(tagRowOf)],
    }),
  );
  const outcome = textAt(reply, OUTCOME);
  if (outcome === "raised") return { outcome, addedMicrocents: amountAt(reply, AT.raised.addedMicrocents) };
  if (outcome === "enough" || outcome === "in_flight") return { outcome, addedMicrocents: 0n };
  throw unknownOutcome(outcome);
}

function formatRow(row: UsageRow): string[] {
  return [...listOf["logged-row"]({ tagRow: tagRowOf(row.tags), tags: row.tags }), ...formatFigures(row)];
}

/** Returns the tag row as `lua/include/tags.lua` names it. */
function tagRowOf(tags: string): string {
  if (tags === "" || tags === OTHER_TAGS) return tags;
  return createHash("sha1").update(tags).digest("hex").slice(0, 20);
}
