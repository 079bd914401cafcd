/**
 * Record of a request that costs money: created before the request goes upstream, charged while it runs,
 * closed by its final charge, or by another worker if its owner died. A charge sets the total and never adds,
 * so repeated, late or reordered commands and lost replies neither count twice nor lose anything. The rules
 * are in `lua/`.
 */
import { countFiredAlerts, countSpendFall, type StoreContext } from "../context.ts";
import {
  chargedKeys,
  openRequestsKey,
  inflightKey,
  keyRecordKey,
  organizationKey,
  requestKey,
  tagCombinationsKey,
} from "../redis/keys.ts";
import { chargeSingle } from "./single-charges.ts";
import { formatCharge, formatEstimate } from "./formatted-charge.ts";
import { formatTokenCounts, formatTokenDifferences } from "./token-buckets.ts";
import { trackChargeReplies } from "./track-charge-replies.ts";
import { formatChecks } from "./facts.ts";
import { expiryOf } from "../../../shared/time/calendar.ts";
import {
  amountAt,
  formatAmount,
  formatCount,
  integerAt,
  parseArray,
  textAt,
  unknownOutcome,
} from "../redis/parse-reply.ts";
import { LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import { LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import {
  type ChargeInput,
  type OpenRecordResult,
  LOGGED_SEQUENCE,
  type OverdueRequest,
  type RenewOutcome,
  type RequestIdentity,
  type RequestStore,
} from "../../../shared/stored/settlement.ts";
import type { Check } from "../../../shared/stored/reporting.ts";
import type { UsedTokens } from "../../../shared/stored/token-rate.ts";
import { storeOf } from "../run.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { listOf } from "../redis/row-layouts.ts";

/**
 * Requests per call of a script. Keeps a call under a millisecond, because other organizations' admissions wait for
 * it.
 */
const BATCH = 100;
/** Requests per deletion. Larger than `BATCH`, because deleting takes a fifth of the time. */
const DELETE_BATCH = 500;
/** Stands in for key names of a deleted record; the script does not use them. */
const NO_RECORD = { keyId: "", month: "", day: "" };

export const createRequestStore = storeOf<RequestStore>({
  async openRecord(context, input) {
    const { organizationId, keyId, requestId, month } = input;
    const reply = parseArray(
      await context.client.igwOpenRecord({
        request: requestKey(organizationId, requestId),
        openRequests: openRequestsKey(organizationId),
        keyRecord: keyRecordKey(organizationId, keyId),
        organization: organizationKey(organizationId),
        inflight: inflightKey(organizationId, keyId),
        combinations: tagCombinationsKey(organizationId, month),
        requestId,
        keyId,
        month,
        day: input.day,
        model: input.model,
        route: input.route,
        worstText: input.worstCaseMicrocents === null ? "" : formatAmount(input.worstCaseMicrocents),
        floorText: formatAmount(input.floorMicrocents),
        floorInput: formatCount(input.floorInputTokens),
        expiresAtMs: String(expiryOf(month, context.usageMonths)),
        tags: input.tags ?? "",
        price: formatPrice(input.price),
        currency: input.currency ?? "",
        owners: input.owners ?? "",
        sessionName: input.session ?? "",
        isSessionCapped: input.isSessionCapped === true,
        sessionBudget: input.sessionBudgetCents === undefined ? "" : formatCount(input.sessionBudgetCents),
        furtherArguments: formatTokenDifferences(input, input.takenTokens, {
          input: input.floorInputTokens - (input.takenTokens?.prompt ?? 0),
          output: 0,
          returned: 0,
        }),
      }),
    );
    const outcome = textAt(reply, OUTCOME);
    if (outcome === "opened" || outcome === "exists") {
      const uncapped = outcome === "opened" ? textAt(reply, AT.opened.sessionUncapped) : "";
      if (uncapped !== "") context.sessions.uncapped += 1;
      const tagRow = textAt(reply, AT.opened.tagRow);
      return tagRow === "" ? { outcome } : { outcome, tagRow };
    }
    if (outcome === "currency_changed") {
      return { outcome, currency: textAt(reply, AT.currencyChanged.currency) };
    }
    if (outcome === "worst_case_required") return { outcome };
    if (outcome === "concurrency_limited") {
      return { outcome, limit: integerAt(reply, AT.concurrencyLimited.limit) };
    }
    return parseCapReached(context, reply);
  },

  async charge(context, input) {
    const charge = formatCharge(input);
    if (input.isSingleCharge === true && (await chargeSingle(context, charge))) return { outcome: "applied" };
    const { requestId, keyId, month, day, model, route, final } = input;
    const list = listOf.charge<string | readonly string[]>({
      requestId,
      keyId,
      month,
      day,
      model,
      route,
      seq: formatCount(input.sequence),
      final: final === null ? "0" : "1",
      totals: charge.figures,
      expiresAtMs: String(expiryOf(month, context.usageMonths)),
      currency: input.currency ?? "",
    });
    const command = context.client.igwCharge({
      request: requestKey(input.organizationId, requestId),
      combinations: tagCombinationsKey(input.organizationId, month),
      listText: JSON.stringify([...list, ...listRare(input)]),
      entry: charge.entry,
      ...chargedKeys(input),
    });
    const reply = await trackChargeReplies(context, [input], command);
    const outcome = textAt(reply, OUTCOME);
    if (outcome !== "applied" && outcome !== "repeated" && outcome !== "ended") throw unknownOutcome(outcome);
    if (outcome === "applied") {
      countFiredAlerts(context, reply, AT.charged.alertsFired);
      const fell = textAt(reply, AT.charged.fell);
      if (fell === "interim" || fell === "reaped") countSpendFall(context, fell);
    }
    return { outcome };
  },

  async renew(context, organizationId, requests) {
    const outcomes: RenewOutcome[] = [];
    for (let start = 0; start < requests.length; start += BATCH) {
      const batch = requests.slice(start, start + BATCH);
      const keys = batch.flatMap(({ requestId, keyId }) =>
        listOf["renewed-keys"]({
          request: requestKey(organizationId, requestId),
          inflight: inflightKey(organizationId, keyId),
        }),
      );
      const reply = parseArray(
        await context.client.igwRenew({
          openRequests: openRequestsKey(organizationId),
          organization: organizationKey(organizationId),
          furtherKeys: keys,
          furtherArguments: batch.map(({ requestId }) => requestId),
        }),
      );
      outcomes.push(...reply.map((_, position) => parseRenewOutcome(textAt(reply, position))));
    }
    return outcomes;
  },

  async listOverdue(context, organizationId, limit) {
    const reply = parseArray(
      await context.client.igwListOverdue({
        openRequests: openRequestsKey(organizationId),
        limit: formatCount(limit),
      }),
    );
    return Promise.all(
      reply.map(async (_, position): Promise<OverdueRequest> => {
        const requestId = textAt(reply, position);
        const [keyId, day] = await context.client.hmget(requestKey(organizationId, requestId), "key", "day");
        const record = keyId && day ? { keyId, month: day.slice(0, 7), day } : null;
        return { organizationId, requestId, record };
      }),
    );
  },

  async close(context, request) {
    const { organizationId, requestId, record } = request;
    const { keyId, month, day } = record ?? NO_RECORD;
    const reply = parseArray(
      await context.client.igwClose({
        request: requestKey(organizationId, requestId),
        requestId,
        keyId,
        month,
        day,
        expiresAtMs: record === null ? "0" : String(expiryOf(month, context.usageMonths)),
        ...chargedKeys({ organizationId, keyId, day }),
      }),
    );
    const outcome = textAt(reply, OUTCOME);
    if (outcome !== "closed" && outcome !== "not_due" && outcome !== "gone") throw unknownOutcome(outcome);
    if (outcome === "closed") countFiredAlerts(context, reply, AT.closed.alertsFired);
    return outcome;
  },

  async deleteRecords(context, organizationId, requestIds) {
    let deleted = 0;
    for (let start = 0; start < requestIds.length; start += DELETE_BATCH) {
      const batch = requestIds.slice(start, start + DELETE_BATCH);
      const furtherKeys = batch.map((id) => requestKey(organizationId, id));
      deleted += Number(await context.client.igwDeleteRequests({ furtherKeys }));
    }
    return deleted;
  },

  async markLogged(context, organizationId, charges, { mark }) {
    const unsettled: ChargeInput[] = [];
    for (let start = 0; start < charges.length; start += BATCH) {
      const batch = charges.slice(start, start + BATCH);
      const reply = parseArray(
        await context.client.igwMarkLogged({
          openRequests: openRequestsKey(organizationId),
          mark,
          seq: formatCount(LOGGED_SEQUENCE),
          furtherKeys: batch.map(({ requestId }) => requestKey(organizationId, requestId)),
          furtherArguments: batch.flatMap((charge) =>
            listOf["logged-request"]({
              key: charge.keyId,
              day: charge.day,
              model: charge.model,
              figures: formatCharge(charge).figures.join(" "),
            }),
          ),
        }),
      );
      if (reply.length === 0) return null;
      unsettled.push(...batch.filter((_, position) => textAt(reply, position) === "1"));
    }
    return unsettled;
  },

  async removeAbandoned({ client }, organizationId, requests) {
    const returned = requests.flatMap(({ keyId, owners, takenTokens: taken }) =>
      formatTokenDifferences({ organizationId, keyId, owners }, taken, {
        input: -(taken?.prompt ?? 0),
        output: 0,
        returned: taken?.reserved ?? 0,
      }),
    );
    await Promise.all([
      ...requests.flatMap(({ requestId, keyId }) => [
        client.zrem(openRequestsKey(organizationId), requestId),
        client.zrem(inflightKey(organizationId, keyId), requestId),
      ]),
      returned.length === 0
        ? null
        : client.igwGiveTokens({ organization: organizationKey(organizationId), furtherArguments: returned }),
    ]);
  },
});

function parseCapReached(context: StoreContext, reply: readonly unknown[]): OpenRecordResult {
  const at = AT.capReached;
  countFiredAlerts(context, reply, at.alertsFired);
  const spentMicrocents = amountAt(reply, at.spent);
  const heldMicrocents = amountAt(reply, at.held);
  const capCents = integerAt(reply, at.capCents);
  if (reply[OUTCOME] === "session_cap_reached") {
    return { outcome: "session_cap_reached", figures: { spentMicrocents, heldMicrocents, capCents } };
  }
  const scope = LIMIT_SCOPES.find((known) => `${known}_cap_reached` === reply[OUTCOME]);
  const period = LIMIT_PERIODS.find((known) => known === reply[at.period]);
  if (scope === undefined || period === undefined) throw unknownOutcome(textAt(reply, OUTCOME));
  return {
    outcome: `${scope}_cap_reached`,
    figures: {
      spentMicrocents,
      heldMicrocents,
      capCents,
      raisedCents: integerAt(reply, at.raisedCents),
      period,
      ownerName: textAt(reply, at.ownerName),
      areAmountsHidden: textAt(reply, at.amountsHidden) === "1",
    },
  };
}

/** Lists the rarely used arguments. Most charges have none, and are parsed faster without them. */
function listRare(input: ChargeInput): string[] {
  const { final, estimate, tags, tagRow, onlyIfEntered, owners, usedTokens, session } = input;
  const isPlain = (tags ?? "") === "" && onlyIfEntered !== true && owners === undefined;
  if (estimate === null && isPlain && usedTokens === undefined && session === undefined) return [];
  const rare = listOf["charge-rare"]({
    price: final === null ? formatPrice(estimate?.price) : "",
    estimate: formatEstimate(estimate),
    tags: tags ?? "",
    tagRow: tagRow ?? "",
    onlyEntered: onlyIfEntered === true ? "1" : "",
    owners: owners ?? "",
    session: session ?? "",
    sessionCapped: input.isSessionCapped === true ? "1" : "",
  });
  return usedTokens === undefined ? rare : [...rare, ...formatUsedTokens(input, usedTokens)];
}

function formatUsedTokens(identity: RequestIdentity, used: UsedTokens): string[] {
  const tokens = listOf["charge-tokens"]({
    takenTokens: formatCount(used.prompt),
    usedInput: formatCount(used.input),
    usedOutput: formatCount(used.output),
  });
  return [...tokens, ...formatTokenCounts(identity, used)];
}

/** Formats the price as the checks of a request that another worker closes. */
function formatPrice(price: Check | undefined): string {
  return price === undefined ? "" : formatChecks([price]);
}

function parseRenewOutcome(outcome: string): RenewOutcome {
  if (outcome === "renewed" || outcome === "reopened" || outcome === "ended" || outcome === "missing") {
    return outcome;
  }
  throw unknownOutcome(outcome);
}
