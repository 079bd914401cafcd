/** Items that need attention, most urgent first, each with the page where it can be resolved. */
import { formatLimitPath, nameLimit } from "../../../shared/settings/limit-words.ts";
import type { ListedAlert } from "../../../shared/stored/alerts.ts";
import { formatLimit, formatMoney, formatTime } from "../format.ts";
import { DAY_MS } from "../../../shared/time/calendar.ts";
import { JUDGED_REQUESTS } from "../api/recent-requests.ts";
import {
  type Attention,
  describeReachedOf,
  type LimitAttentionInput,
  listReachedLimits,
  listReachedPools,
  listStops,
} from "./limit-attention.ts";
import { isOverCap, limitLevelOf } from "./limit-words.ts";
import type { KeyView, LimitView, OrganizationView } from "./views.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";

export interface AttentionInput extends LimitAttentionInput {
  readonly organization: OrganizationView;
  readonly forecastMicrocents: number | null;
  /** Keys that a cap stops or that are past a budget: of each kind at least the first. */
  readonly keys: readonly KeyView[];
  /** Number of keys that are stopped by a cap, or past a budget. Omitted: `keys` are all. */
  readonly keyCounts?: Readonly<Record<Kind, number>>;
  /** Limits of the keys that `keysWithReachedLimits` selects, by key id. */
  readonly keyLimits: ReadonlyMap<string, readonly LimitView[]>;
  readonly alerts: readonly ListedAlert[];
  /** Whether the reader can change limits. */
  readonly canChange: boolean;
}

/** State of a key that has reached a limit of either kind. */
const KEY_STATES = { cap: "cap_reached", budget: "over_budget" } as const;
type Kind = keyof typeof KEY_STATES;

/** Returns the keys that are shown individually. */
export function keysWithReachedLimits(keys: readonly KeyView[]): readonly KeyView[] {
  return [...findKeys(keys, "cap").slice(0, 1), ...findKeys(keys, "budget").slice(0, 1)];
}

function findKeys(keys: readonly KeyView[], kind: Kind): readonly KeyView[] {
  return keys.filter(({ state }) => state === KEY_STATES[kind]);
}

export function listAttention(input: AttentionInput): readonly Attention[] {
  const found = [
    ...ofOrganization(input),
    ...listReachedLimits(input, "cap"),
    ...ofForecast(input),
    ...ofUpstreams(input),
    ...listReachedPools(input, "cap"),
    ...ofKeys(input, "cap"),
    ...listStops(input),
    ...ofWebhook(input),
    ...listReachedLimits(input, "budget"),
    ...listReachedPools(input, "budget"),
    ...ofKeys(input, "budget"),
  ];
  const readable = input.canChange ? found : found.map(asReader);
  return [
    ...readable.filter(({ level }) => level === "bad"),
    ...readable.filter(({ level }) => level === "warn"),
  ];
}

/** Viewers are offered to see what others change. */
function asReader(entry: Attention): Attention {
  return { ...entry, label: entry.label.replace(/^Change /, "See ") };
}

function ofOrganization({ organization: { id, suspended } }: AttentionInput): Attention[] {
  if (!suspended) return [];
  const text =
    "This organization is suspended: every API key returns 403. Only the operator can change this.";
  return [{ level: "bad", text, label: "Inference settings", path: `/organizations/${id}/settings` }];
}

/** While the monthly cap is not reached, reports whether it is expected to be. */
function ofForecast({ organization, limits, forecastMicrocents }: AttentionInput): Attention[] {
  const { id, currency } = organization;
  const cap = limits.find(({ period, kind }) => period === "month" && kind === "cap");
  if (cap === undefined || limitLevelOf(cap) === "reached") return [];
  if (!isOverCap({ monthCapCents: cap.cents }, forecastMicrocents ?? 0)) return [];
  const text = `At this pace, this month's spend reaches ${formatMoney(forecastMicrocents ?? 0, currency)}, above the ${nameLimit(cap)} of ${formatLimit(cap.cents, currency)}.`;
  const path = formatLimitPath({ scope: "organization", organizationId: id, keyId: null, ownerId: null });
  return [{ level: "warn", text, label: "Change this cap", path }];
}

function ofKeys(input: AttentionInput, kind: Kind): Attention[] {
  // The organization's own entry says that all keys are stopped.
  if (kind === "cap" && listReachedLimits(input, kind).length > 0) return [];
  const found = findKeys(input.keys, kind);
  const count = input.keyCounts?.[kind] ?? found.length;
  if (count > 1) {
    const text = `${count} API keys ${kind === "cap" ? "have reached a cap" : "are over a budget"}.`;
    const path = `/organizations/${input.organization.id}/keys?sort=-limit&state=${KEY_STATES[kind]}`;
    return [{ level: kind === "cap" ? "bad" : "warn", text, label: "See these API keys", path }];
  }
  return found.flatMap(({ id }) => {
    const limit = input.keyLimits
      .get(id)
      ?.find((one) => isOfKey(one) && one.kind === kind && limitLevelOf(one) === "reached");
    return limit === undefined ? [] : [describeReachedOf(limit, input)];
  });
}

/** Groups and the organization have entries of their own. */
function isOfKey({ scope }: LimitView): boolean {
  return scope === "key" || scope === "user";
}

/** A failed delivery needs attention for a day: after that nobody waits for it. */
const DELIVERY_MS = DAY_MS;

function ofWebhook({ organization, alerts, nowMs }: AttentionInput): Attention[] {
  const base = `/organizations/${organization.id}`;
  const disabledAt = organization.notifications.webhook?.disabled_at ?? null;
  if (disabledAt !== null) {
    const text = "The webhook's endpoint returned 410 Gone, so it receives no more alerts.";
    return [{ level: "bad", text, label: "See the webhook", path: `${base}/settings#webhook` }];
  }
  const disabled = organization.notifications.webhooks.find(({ disabled_at: at }) => at !== null);
  if (disabled !== undefined) {
    const text = `A webhook (${disabled.format}) returned 410 Gone, so it receives no more alerts.`;
    return [{ level: "bad", text, label: "See the webhooks", path: `${base}/settings#webhooks` }];
  }
  const recent = alerts.filter(({ firedAtMs }) => firedAtMs > nowMs - DELIVERY_MS);
  const failing = recent.flatMap(({ deliveries: { email, webhook, webhooks } }) =>
    [webhook, ...webhooks.values(), email].filter(isFailing),
  );
  const [first] = failing;
  if (first === undefined) return [];
  const channel = alerts.some(({ deliveries }) => deliveries.email === first) ? "email" : "webhook";
  const error = first.lastError;
  const text = `An alert couldn't be delivered by ${channel}${error === null ? "" : `: ${error}`}.`;
  return [{ level: "warn", text, label: "See the deliveries", path: `${base}/alerts` }];
}

function isFailing({ state, lastError }: ListedAlert["deliveries"]["email"]): boolean {
  return state !== "off" && state !== "delivered" && lastError !== null;
}

function ofUpstreams({ organization, recent }: AttentionInput): Attention[] {
  return recent.failing.map(({ name, failures, lastMs, isServerError, cause }) => {
    const path = `/organizations/${organization.id}/requests?upstream=${encodeURIComponent(name)}`;
    const why = cause === null ? "" : ` ${capitalize(cause)}.`;
    const newest = `at ${formatTime(new Date(lastMs).toISOString())}`;
    return {
      level: failures < JUDGED_REQUESTS ? "warn" : "bad",
      text: `Upstream ${name} is failing: ${FAILED[failures] ?? `its last ${failures} requests failed, the latest`} ${newest}.${why}`,
      label: "See these requests",
      path: isServerError ? `${path}&status=5xx` : path,
    };
  });
}

/** Text if it has had fewer requests than are judged. */
const FAILED: Readonly<Record<number, string>> = {
  1: "its only request of the last day failed",
  2: "both requests of the last day failed, the latest",
};
