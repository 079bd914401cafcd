/** Page of one alert: what happened, the state of its limit now, deliveries, earlier alerts of the same limit. */
import { findLimitKind, nameSubject, nameWindow } from "../../../alerts/alert-names.ts";
import { isCapReached, isThreshold, pathOf } from "../../../alerts/alert-words.ts";
import type { DeliveryState, ListedAlert } from "../../../../shared/stored/alerts.ts";
import { formatOwnerPath } from "../../../../shared/contract/pages.ts";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import { formatCount, formatLimit, formatMoney } from "../../format.ts";
import { type LimitNow, LOOKED_AT, readAlert, readLimitsNow } from "../../api/alerts.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import {
  AlertList,
  describeChange,
  describeReset,
  listDeliveries,
  SendAgain,
  Subject,
} from "../parts/alert-list.tsx";
import { Time } from "../parts/inline.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { Pairs } from "../parts/pairs.tsx";
import { RowTable } from "../parts/table.tsx";

const SHOWN_EARLIER = 10;

export async function showAlert(page: OrganizationPageCall): Promise<PageAnswer> {
  const { alert, items } = await page.read(readAlert, page.params["alert"] ?? "");
  const listed = items.filter(({ messageId }) => messageId === alert.messageId);
  const together = listed.length === 0 ? [alert] : listed;
  const earlier = items.filter((other) => !together.includes(other) && isOfSame(other, alert));
  const limitNow = await page.read(readLimitsNow, [alert, ...together]);
  // The facts below say all of a single threshold.
  const isListed = !isThreshold(alert) || together.length > 1;
  const title = `Alert of ${nameSubject(alert)}`;
  return showPage(
    <Layout page={page} title={title} heading={<bdi>{title}</bdi>} section="alerts">
      {isListed ? <AlertList page={page} alerts={together} limitNow={limitNow} /> : null}
      <Facts page={page} alert={alert} limitNow={limitNow} />
      <Deliveries page={page} alert={alert} />
      {isListed ? null : <SendAgain page={page} alert={alert} />}
      <Section id="earlier" title="Earlier alerts of the same limit">
        {earlier.length === 0 ? (
          <p class="card empty">None among the {LOOKED_AT} alerts before this one.</p>
        ) : (
          <AlertList page={page} alerts={earlier.slice(0, SHOWN_EARLIER)} limitNow={limitNow} />
        )}
      </Section>
    </Layout>,
  );
}

/** Returns whether both are about the same limit; of alerts without one, whether about the same owner's spend. */
function isOfSame(one: ListedAlert, other: ListedAlert): boolean {
  const subjectOf = (alert: ListedAlert): string =>
    [alert.scope, alert.keyId ?? alert.ownerId, findLimitKind(alert) ?? alert.kind, alert.period].join(" ");
  return subjectOf(one) === subjectOf(other);
}

interface FactsProps {
  readonly page: OrganizationPageCall;
  readonly alert: ListedAlert;
  readonly limitNow: LimitNow;
}

function Facts({ page, alert, limitNow }: FactsProps) {
  const { period } = alert;
  const kind = findLimitKind(alert);
  const facts = {
    fired: <Time at={alert.firedAtMs} exact />,
    owner: (
      <a href={formatOwnerPath(alert)}>
        <Subject alert={alert} />
      </a>
    ),
    limit:
      kind === null ? null : (
        <>
          {labelLimit({ period, kind })} · <a href={pathOf(alert)}>{page.canChange ? "Change" : "See"} it</a>
        </>
      ),
    period: nameWindow(alert),
    // The list above has a forecast, a sudden spend or a summary in a sentence.
    ...(isThreshold(alert) ? describeAtLimit(alert, limitNow(alert), page.nowMs) : {}),
  };
  return <Pairs facts={facts} />;
}

function describeAtLimit(alert: ListedAlert, now: ReturnType<LimitNow>, nowMs: number) {
  const { currency, amountCents, spentMicrocents, thresholdPercent } = alert;
  const spend = (microcents: bigint) => `${formatMoney(Number(microcents), currency)} spent`;
  const limit = (cents: number) => formatLimit(cents, currency);
  const states = [describeReset(alert, nowMs), describeChange(alert, now)].filter((text) => text !== "");
  return {
    "when it fired": `${spend(spentMicrocents)}, ${formatCount(thresholdPercent)} % of ${limit(amountCents)}`,
    now: now === null ? null : `${spend(now.spentMicrocents)} of ${limit(now.cents)}`,
    since: states.join(", ") || null,
    requests: isCapReached(alert) ? "rejected from then on" : null,
  };
}

function Deliveries({ page, alert }: { page: OrganizationPageCall; alert: ListedAlert }) {
  const time = (at: number | null) => (at === null ? "–" : <Time at={at} exact />);
  const rows = listDeliveries(page, alert).filter(([, { state }]) => state !== "off");
  return (
    <Section id="deliveries" title="Deliveries">
      <RowTable<readonly [string, DeliveryState]>
        label="Deliveries, table"
        class="stack"
        columns={[
          { label: "channel", cell: ([name]) => name },
          { label: "state", cell: ([, { state }]) => state },
          { label: "attempts", kind: "number", cell: ([, { attempts }]) => attempts },
          { label: "last error", cell: ([, { lastError }]) => lastError ?? "–" },
          { label: "last attempt", cell: ([, { lastAttemptAtMs: at }]) => time(at) },
          { label: "next attempt", cell: ([, { nextAttemptAtMs: at }]) => time(at) },
        ]}
        rows={rows}
        empty="No email or webhook was set up for this alert."
      />
    </Section>
  );
}
