/** Brings back what a Redis that was restored from an older snapshot does not know any more. */
import type { StoreContext } from "../context.ts";
import { holdsKey, spendKey, usageKey } from "../redis/keys.ts";
import { expiryOf } from "../../calendar.ts";
import { amountAt, formatAmount, formatCount, parseArray, textAt } from "../redis/parse-reply.ts";
import type { RaiseUsageResult, UsageRow } from "../types/reporting.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

/** @see UsageStore.raiseUsage */
export async function raiseUsage(
  context: StoreContext,
  organizationId: string,
  row: UsageRow & { readonly keyId: string; readonly model: string },
): Promise<RaiseUsageResult> {
  const month = row.day.slice(0, 7);
  const reply = parseArray(
    await context.client.igwRaiseUsage(
      spendKey(organizationId, month),
      usageKey(organizationId, row.day),
      holdsKey(organizationId),
      row.keyId,
      row.model,
      String(expiryOf(month, context.usageMonths)),
      formatCount(row.requests),
      formatCount(row.inputTokens),
      formatCount(row.cachedInputTokens),
      formatCount(row.outputTokens),
      formatCount(row.reasoningTokens),
      formatCount(row.estimatedRequests),
      formatAmount(row.costMicrocents),
    ),
  );
  const outcome = textAt(reply, OUTCOME);
  if (outcome === "raised") return { outcome, addedMicrocents: amountAt(reply, AT.raised.addedMicrocents) };
  if (outcome === "enough" || outcome === "in_flight") return { outcome, addedMicrocents: 0n };
  throw new TypeError(`raise-usage replied an outcome that is not known: ${outcome}`);
}
