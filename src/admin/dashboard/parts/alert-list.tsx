/** @jsxImportSource hono/jsx */
import type { ListedAlert } from "../../../store/types/alerts.ts";
import { formatLimit, formatMoney, formatTime, monthName } from "../../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import { Form } from "./fields.tsx";
import { Time } from "./time.tsx";

export const REDELIVER = "POST /api/organizations/{organization}/alerts/{alert}/redeliver";

interface AlertListProps {
  readonly page: OrganizationPageCall;
  readonly alerts: readonly ListedAlert[];
}

/** Alerts, newest first, with the state of each delivery. */
export function AlertList({ page, alerts }: AlertListProps) {
  return (
    <ul class="alerts">
      {alerts.map((alert) => (
        <li class={alert.kind === "hard_cap" && alert.thresholdPercent >= 100 ? "bad" : "warn"}>
          <p>
            <strong>
              {alert.thresholdPercent} % of the {alert.kind === "budget" ? "budget" : "hard cap"}
            </strong>{" "}
            of <Subject alert={alert} />: {formatMoney(Number(alert.spentMicrocents), alert.currency)} of{" "}
            {formatLimit(alert.amountCents, alert.currency)} in {monthName(alert.month)}
          </p>
          <p class="quiet">
            <Time at={alert.firedAtMs} />
            {describeDelivery("email", alert)}
            {describeDelivery("webhook", alert)}
          </p>
          <SendAgain page={page} alert={alert} />
        </li>
      ))}
    </ul>
  );
}

function Subject({ alert }: { alert: ListedAlert }) {
  if (alert.scope === "organization") return <>the organization</>;
  return (
    <>
      API key "<bdi>{alert.keyName ?? alert.keyId ?? ""}</bdi>"
    </>
  );
}

function describeDelivery(channel: "email" | "webhook", alert: ListedAlert): string {
  const { state, attempts, lastError, nextAttemptAtMs } = alert.deliveries[channel];
  if (state === "off") return "";
  const tries = attempts > 0 ? ` after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}` : "";
  const error = lastError === null || state === "delivered" ? "" : ` (${lastError})`;
  const next =
    nextAttemptAtMs === null ? "" : `, next try ${formatTime(new Date(nextAttemptAtMs).toISOString())}`;
  return ` · ${channel}: ${state}${tries}${error}${next}`;
}

function SendAgain({ page, alert }: { page: OrganizationPageCall; alert: ListedAlert }) {
  const { emails, webhook } = page.organization.notifications;
  const channels = [...(emails.length > 0 ? ["email"] : []), ...(webhook === null ? [] : ["webhook"])];
  if (!page.canChange || channels.length === 0) return null;
  return (
    <Form
      page={page}
      action={`/organizations/${page.organization.id}/alerts/${alert.id}/redeliver`}
      class="actions"
    >
      {channels.map((channel) => (
        <button type="submit" class="quiet" name="channels" value={channel}>
          Send {channel} again
        </button>
      ))}
    </Form>
  );
}
