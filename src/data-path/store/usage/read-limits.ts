/** Limits that apply to a request now, with their spend and reserved amounts. */
import { LIMIT_KINDS, LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import { inputOfMonth, runInMonth, type StoreContext } from "../context.ts";
import { keyRecordKey, organizationKey } from "../redis/keys.ts";
import { amountAt, integerAt, parseArray } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import type { LimitReading, LimitStatus } from "../../../shared/stored/reporting.ts";

/** @see UsageStore.readLimits */
export async function readLimits(
  context: StoreContext,
  organizationId: string,
  { keyId, owners }: { readonly keyId: string | null; readonly owners: string },
): Promise<LimitReading> {
  const reply = await runInMonth(context, (month) =>
    context.client.igwReadLimits({
      organization: organizationKey(organizationId),
      keyRecord: keyId === null ? organizationKey(organizationId) : keyRecordKey(organizationId, keyId),
      keyId: keyId ?? "",
      owners,
      ...inputOfMonth(month),
    }),
  );
  const at = AT.limitsRead;
  return {
    timeMs: integerAt(reply, at.timeMs),
    limits: parseArray(reply[at.limits])
      .map((row) => parseLimit(parseArray(row)))
      .toSorted((one, other) => rankOf(one) - rankOf(other)),
  };
}

/** Returns the rank for sorting: narrowest scope first, in the order of the settings. */
function rankOf({ scope, period, kind }: LimitStatus): number {
  const place = LIMIT_SCOPES.indexOf(scope) * LIMIT_PERIODS.length + LIMIT_PERIODS.indexOf(period);
  return place * LIMIT_KINDS.length + LIMIT_KINDS.indexOf(kind);
}

/** Parses one row; its scope is in the position of an outcome. */
function parseLimit(row: readonly unknown[]): LimitStatus {
  const at = AT.limitRead;
  const scope = LIMIT_SCOPES.find((known) => known === row[OUTCOME]);
  const period = LIMIT_PERIODS.find((known) => known === row[at.period]);
  const kind = LIMIT_KINDS.find((known) => known === row[at.kind]);
  if (scope === undefined || period === undefined || kind === undefined) {
    throw new TypeError("read-limits replied a limit that is not known");
  }
  return {
    scope,
    period,
    kind,
    cents: integerAt(row, at.cents),
    raisedCents: integerAt(row, at.raisedCents),
    spentMicrocents: amountAt(row, at.spent),
  };
}
