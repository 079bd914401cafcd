import { findLimitKind, limitNameOf, nameWindow } from "../../../alerts/alert-names.ts";
import { isCapReached, isThreshold, pathOf } from "../../../alerts/alert-words.ts";
import { describeWatched } from "../../../alerts/watch-words.ts";
import type { LimitStatus } from "../../../../shared/stored/reporting.ts";
import type { AlertRecord, DeliveryState, ListedAlert } from "../../../../shared/stored/alerts.ts";
import { formatLimit, formatMoney, formatTime } from "../../format.ts";
import { formatWindowEnd } from "../../../../shared/time/periods.ts";
import type { LimitNow } from "../../api/alerts.ts";
import { describeWait } from "../limit-words.ts";
import type { OrganizationPageCall } from "../page.ts";
import { Form } from "./fields.tsx";
import { Time } from "./inline.tsx";

export const REDELIVER = "POST /api/organizations/{organization}/alerts/{alert}/redeliver";

/** Alerts that fired in one step, in order. */
type Message = readonly [ListedAlert, ...ListedAlert[]];

interface AlertListProps {
  readonly page: OrganizationPageCall;
  readonly alerts: readonly ListedAlert[];
  readonly limitNow: LimitNow;
}

/** Alerts, newest first, grouped by step, with the state of each delivery. */
export function AlertList({ page, alerts, limitNow }: AlertListProps) {
  return (
    <ul class="alerts">
      {groupByMessage(alerts).map((message) => (
        <li class={message.some(isCapReached) ? "bad" : "warn"}>
          {groupByLimit(message).map((reached) => (
            <Reached page={page} alerts={reached} limitNow={limitNow} />
          ))}
          <div class="quiet">
            <a href={`${page.base}/alerts/${(message.at(-1) ?? message[0]).id}`}>
              <Time at={message[0].firedAtMs} />
            </a>
            {describeDeliveries(page, message[0])}
            <SendAgain page={page} alert={message[0]} before=" · " />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Formats "80 % and 100 % of the budget of API key …". */
function Reached({ page, alerts, limitNow }: Omit<AlertListProps, "alerts"> & { readonly alerts: Message }) {
  const [alert] = alerts;
  const path = pathOf(alert);
  if (!isThreshold(alert)) return <Watched alert={alert} />;
  const states = [describeReset(alert, page.nowMs), describeChange(alert, limitNow(alert))];
  const percents = alerts.map(({ thresholdPercent }) => `${thresholdPercent} %`);
  return (
    <p>
      <strong>
        {percents.join(" and ")} of the <a href={path}>{limitNameOf(alert)}</a>
      </strong>{" "}
      of <Subject alert={alert} />: {formatMoney(Number(alert.spentMicrocents), alert.currency)} of{" "}
      {formatLimit(alert.amountCents, alert.currency)} {nameWindow(alert)}
      {states.map((state) => (state === "" ? "" : `, ${state}`)).join("")}
    </p>
  );
}

/** A forecast, sudden spend or a summary. */
function Watched({ alert }: { alert: ListedAlert }) {
  const text = describeWatched(alert, {
    limit: ({ amountCents, currency }) => formatLimit(amountCents, currency),
    spent: ({ spentMicrocents, currency }) => formatMoney(Number(spentMicrocents), currency),
  });
  return (
    <p>
      {text}{" "}
      <a href={pathOf(alert)}>{findLimitKind(alert) === null ? "See the spend" : "Change the limit"}</a>
    </p>
  );
}

/** "resets in 2 days", "reset since"; '' if the window never ends. */
export function describeReset({ period, windowStart, month }: ListedAlert, nowMs: number): string {
  const end = formatWindowEnd(period, windowStart ?? `${month}-01`);
  if (end === null) return "";
  const endMs = Date.parse(end);
  return endMs <= nowMs ? "reset since" : `resets ${describeWait(endMs, nowMs)}`;
}

/** Returns "raised since to 20.00 USD", "removed since"; '' if the limit is as it was. */
export function describeChange({ amountCents, currency }: AlertRecord, now: LimitStatus | null): string {
  if (now === null) return "removed since";
  if (now.cents === amountCents) return "";
  return `${now.cents > amountCents ? "raised" : "lowered"} since to ${formatLimit(now.cents, currency)}`;
}

function groupByMessage(alerts: readonly ListedAlert[]): readonly Message[] {
  return groupNeighbours(alerts, ({ messageId }) => messageId).map((group) => reversed(group));
}

function groupByLimit(message: Message): readonly Message[] {
  return groupNeighbours(message, ({ scope, period, kind }) => `${scope} ${period} ${kind}`);
}

function groupNeighbours(
  alerts: readonly ListedAlert[],
  nameOf: (alert: ListedAlert) => string,
): readonly Message[] {
  const groups: [ListedAlert, ...ListedAlert[]][] = [];
  for (const alert of alerts) {
    const last = groups.at(-1);
    if (last !== undefined && nameOf(last[0]) === nameOf(alert)) last.push(alert);
    else groups.push([alert]);
  }
  return groups;
}

function reversed([first, ...rest]: Message): Message {
  const [last, ...before] = rest.toReversed();
  return last === undefined ? [first] : [last, ...before, first];
}

export function Subject({ alert }: { alert: ListedAlert }) {
  if (alert.scope === "organization") return <>the organization</>;
  return (
    <>
      {alert.scope === "key" ? "API key" : alert.scope} "
      <bdi>{alert.keyName ?? alert.ownerName ?? alert.keyId ?? ""}</bdi>"
    </>
  );
}

function describeDeliveries(page: OrganizationPageCall, alert: ListedAlert): string {
  return listDeliveries(page, alert)
    .map(([name, delivery]) => describeDelivery(name, delivery))
    .join("");
}

/** Lists the channels with the state of each delivery. */
export function listDeliveries(
  { organization }: OrganizationPageCall,
  { deliveries }: ListedAlert,
): readonly (readonly [channel: string, DeliveryState])[] {
  const formats = new Map(organization.notifications.webhooks.map(({ id, format }) => [id, format]));
  const further = [...deliveries.webhooks].map(
    ([id, state]) => [formats.get(id) ?? "webhook", state] as const,
  );
  return [["email", deliveries.email], ["webhook", deliveries.webhook], ...further];
}

function describeDelivery(name: string, delivery: DeliveryState): string {
  const { state, attempts, lastError, nextAttemptAtMs } = delivery;
  if (state === "off") return "";
  // Attempts are only mentioned if the first one failed.
  const tries =
    attempts > (state === "delivered" ? 1 : 0)
      ? ` after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`
      : "";
  const error = lastError === null || state === "delivered" ? "" : ` (${lastError})`;
  const next =
    nextAttemptAtMs === null ? "" : `, next attempt ${formatTime(new Date(nextAttemptAtMs).toISOString())}`;
  return ` · ${name}: ${state}${tries}${error}${next}`;
}

interface SendAgainProps {
  readonly page: OrganizationPageCall;
  readonly alert: ListedAlert;
  /** Text between what stands before and the button. */
  readonly before?: string;
}

/** Button for redelivery to failed channels, or otherwise to all. */
export function SendAgain({ page, alert, before = "" }: SendAgainProps) {
  const { emails, webhook, webhooks } = page.organization.notifications;
  const hasChannel = emails.length > 0 || webhook !== null || webhooks.length > 0;
  if (!page.canChange || !hasChannel) return null;
  const path = `${page.base}/alerts/${alert.id}/redeliver`;
  return (
    <>
      {before}
      <Form page={page} action={path} class="small">
        <button type="submit" class="link">
          Send again
        </button>
      </Form>
    </>
  );
}
