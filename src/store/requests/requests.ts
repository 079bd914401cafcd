/**
 * The record of a request that costs money: placed before it goes upstream, charged while it runs, closed by its final
 * charge or, when its owner died, by another. A charge sets the total and never adds, so that a repeat, a late or
 * reordered command or a lost answer counts nothing twice and loses nothing. The rules are in `lua/`.
 */
import { countFiredAlerts, countSpendFall } from "../context.ts";
import {
  chargedKeys,
  holdsKey,
  inflightKey,
  keyRecordKey,
  organizationKey,
  requestKey,
  spendKey,
  tagCombinationsKey,
} from "../redis/keys.ts";
import { chargeBrief } from "./brief-charges.ts";
import { formatCharge, formatEstimate } from "./formatted-charge.ts";
import { formatTokenCounts, formatTokenDifferences } from "./token-buckets.ts";
import { hearCharges } from "./hear-charges.ts";
import { formatChecks } from "./facts.ts";
import { expiryOf } from "../../time/calendar.ts";
import {
  amountAt,
  formatAmount,
  formatCount,
  integerAt,
  parseArray,
  textAt,
  unknownOutcome,
} from "../redis/parse-reply.ts";
import { LIMIT_PERIODS } from "../../settings/limits.ts";
import { LIMIT_SCOPES } from "../types/decision.ts";
import {
  type ChargeInput,
  type HoldResult,
  LOGGED_SEQUENCE,
  type OverdueRequest,
  type RenewOutcome,
  type RequestIdentity,
  type RequestStore,
} from "../types/settlement.ts";
import type { Check } from "../types/reporting.ts";
import type { UsedTokens } from "../types/token-rate.ts";
import { storeOf } from "../run.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

/** Keeps one script under a millisecond, so that admissions of other organizations do not wait for it. */
const BATCH = 100;
/** Deleting takes a fifth of it. */
const FORGET_BATCH = 500;
/** For the key names of a record that is gone; the script does not use them. */
const NO_RECORD = { keyId: "", month: "", day: "" };

export const createRequestStore = storeOf<RequestStore>({
  async hold(context, input) {
    const { organizationId, keyId, requestId, month } = input;
    const reply = parseArray(
      await context.client.igwHold(
        requestKey(organizationId, requestId),
        holdsKey(organizationId),
        keyRecordKey(organizationId, keyId),
        organizationKey(organizationId),
        spendKey(organizationId, month),
        inflightKey(organizationId, keyId),
        tagCombinationsKey(organizationId, month),
        ...identityArguments(input),
        input.worstCaseMicrocents === null ? "" : formatAmount(input.worstCaseMicrocents),
        formatAmount(input.floorMicrocents),
        formatCount(input.floorInputTokens),
        String(expiryOf(month, context.usageMonths)),
        input.tags ?? "",
        formatPrice(input.price),
        input.currency ?? "",
        input.owners ?? "",
        ...sessionArguments(input),
        input.sessionBudgetCents === undefined ? "" : formatCount(input.sessionBudgetCents),
        ...formatTokenDifferences(input, input.takenTokens, {
          input: input.floorInputTokens - (input.takenTokens?.prompt ?? 0),
          output: 0,
        }),
      ),
    );
    const outcome = textAt(reply, OUTCOME);
    if (outcome === "held" || outcome === "exists") {
      if (outcome === "held" && textAt(reply, AT.held.sessionUncapped) !== "") context.sessions.uncapped += 1;
      const tagRow = textAt(reply, AT.held.tagRow);
      return tagRow === "" ? { outcome } : { outcome, tagRow };
    }
    if (outcome === "currency_changed") {
      return { outcome, currency: textAt(reply, AT.currencyChanged.currency) };
    }
    if (outcome === "worst_case_required") return { outcome };
    if (outcome === "concurrency_limited") {
      return { outcome, limit: integerAt(reply, AT.concurrencyLimited.limit) };
    }
    return parseCapReached(reply);
  },

  async charge(context, input) {
    const charge = formatCharge(input);
    if (input.isBrief === true && (await chargeBrief(context, charge))) return { outcome: "applied" };
    const { month, final } = input;
    const command = context.client.igwCharge(
      requestKey(input.organizationId, input.requestId),
      ...chargedKeys(input),
      tagCombinationsKey(input.organizationId, month),
      JSON.stringify([
        ...identityArguments(input),
        formatCount(input.sequence),
        final === null ? "0" : "1",
        charge.figures,
        String(expiryOf(month, context.usageMonths)),
        input.currency ?? "",
        ...listRare(input),
      ]),
      charge.entry,
    );
    const reply = await hearCharges(context, [input], command);
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
      const keys = batch.flatMap(({ requestId, keyId, month }) => [
        requestKey(organizationId, requestId),
        spendKey(organizationId, month),
        inflightKey(organizationId, keyId),
      ]);
      const reply = parseArray(
        await context.client.igwRenew(
          String(keys.length + 2),
          holdsKey(organizationId),
          organizationKey(organizationId),
          ...keys,
          ...batch.map(({ requestId }) => requestId),
        ),
      );
      outcomes.push(...reply.map((_, position) => parseRenewOutcome(textAt(reply, position))));
    }
    return outcomes;
  },

  async listOverdue(context, organizationId, limit) {
    const reply = parseArray(
      await context.client.igwListOverdue(holdsKey(organizationId), formatCount(limit)),
    );
    return Promise.all(
      reply.map(async (_, position): Promise<OverdueRequest> => {
        const requestId = textAt(reply, position);
        const [keyId, month, day] = await context.client.hmget(
          requestKey(organizationId, requestId),
          "key",
          "month",
          "day",
        );
        const record = keyId && month && day ? { keyId, month, day } : null;
        return { organizationId, requestId, record };
      }),
    );
  },

  async close(context, request) {
    const { organizationId, requestId, record } = request;
    const { keyId, month, day } = record ?? NO_RECORD;
    const reply = parseArray(
      await context.client.igwClose(
        requestKey(organizationId, requestId),
        ...chargedKeys({ organizationId, keyId, month, day }),
        requestId,
        keyId,
        month,
        day,
        record === null ? "0" : String(expiryOf(month, context.usageMonths)),
      ),
    );
    const outcome = textAt(reply, OUTCOME);
    if (outcome !== "closed" && outcome !== "not_due" && outcome !== "gone") throw unknownOutcome(outcome);
    if (outcome === "closed") countFiredAlerts(context, reply, AT.closed.alertsFired);
    return outcome;
  },

  async forget(context, organizationId, requestIds) {
    let deleted = 0;
    for (let start = 0; start < requestIds.length; start += FORGET_BATCH) {
      const keys = requestIds.slice(start, start + FORGET_BATCH).map((id) => requestKey(organizationId, id));
      deleted += Number(await context.client.igwForget(String(keys.length), ...keys));
    }
    return deleted;
  },

  async markLogged(context, organizationId, charges, { mark }) {
    const unsettled: ChargeInput[] = [];
    for (let start = 0; start < charges.length; start += BATCH) {
      const batch = charges.slice(start, start + BATCH);
      const reply = parseArray(
        await context.client.igwMarkLogged(
          String(batch.length + 1),
          holdsKey(organizationId),
          ...batch.map(({ requestId }) => requestKey(organizationId, requestId)),
          mark ? "1" : "",
          formatCount(LOGGED_SEQUENCE),
          ...batch.flatMap((charge) => [
            charge.keyId,
            charge.month,
            charge.day,
            charge.model,
            formatCharge(charge).figures.join(" "),
          ]),
        ),
      );
      if (reply.length === 0) return null;
      unsettled.push(...batch.filter((_, position) => textAt(reply, position) === "1"));
    }
    return unsettled;
  },

  async leave({ client }, organizationId, requests) {
    const given = requests.flatMap(({ keyId, owners, takenTokens: taken }) =>
      formatTokenDifferences({ organizationId, keyId, owners }, taken, {
        input: -(taken?.prompt ?? 0),
        output: 0,
      }),
    );
    await Promise.all([
      ...requests.flatMap(({ requestId, keyId }) => [
        client.zrem(holdsKey(organizationId), requestId),
        client.zrem(inflightKey(organizationId, keyId), requestId),
      ]),
      given.length === 0 ? null : client.igwGiveTokens(organizationKey(organizationId), ...given),
    ]);
  },
});

function parseCapReached(reply: readonly unknown[]): HoldResult {
  const at = AT.capReached;
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

function identityArguments(identity: RequestIdentity): string[] {
  return [identity.requestId, identity.keyId, identity.month, identity.day, identity.model, identity.route];
}

/** Most charges have none of these, and are read in less time without. */
function listRare(input: ChargeInput): string[] {
  const { final, estimate, tags, tagRow, onlyIfEntered, owners, usedTokens, session } = input;
  const isPlain = (tags ?? "") === "" && onlyIfEntered !== true && owners === undefined;
  if (estimate === null && isPlain && usedTokens === undefined && session === undefined) return [];
  return [
    final === null ? formatPrice(estimate?.price) : "",
    formatEstimate(estimate),
    tags ?? "",
    tagRow ?? "",
    onlyIfEntered === true ? "1" : "",
    owners ?? "",
    ...sessionArguments(input),
    ...(usedTokens === undefined ? [] : formatUsedTokens(input, usedTokens)),
  ];
}

function formatUsedTokens(identity: RequestIdentity, used: UsedTokens): string[] {
  return [...[used.prompt, used.input, used.output].map(formatCount), ...formatTokenCounts(identity, used)];
}

function sessionArguments({ session, isSessionCapped }: RequestIdentity): string[] {
  return [session ?? "", isSessionCapped === true ? "1" : ""];
}

/** As the checks of a request that another closes. */
function formatPrice(price: Check | undefined): string {
  return price === undefined ? "" : formatChecks([price]);
}

function parseRenewOutcome(outcome: string): RenewOutcome {
  if (outcome === "renewed" || outcome === "reopened" || outcome === "ended" || outcome === "missing") {
    return outcome;
  }
  throw unknownOutcome(outcome);
}
