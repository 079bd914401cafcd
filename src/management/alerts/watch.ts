/**
 * Looks at each organization's spend every quarter of an hour, and fires what no request fires: a forecast above a
 * limit, sudden spend, a summary of a past week or month. One process of all hosts looks; a request never waits for it.
 */
import { mapTogether } from "../../shared/event-loop/map-together.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { MICROCENTS_PER_CENT, wholeCents } from "../../shared/money/money.ts";
import { DAY_MS, dayAt, monthAt } from "../../shared/time/calendar.ts";
import { addDays, daysIn } from "../../shared/time/day-range.ts";
import { internalWait } from "../../shared/time/internal-waits.ts";
import { measureProgress } from "../../shared/usage/forecast.ts";
import type { AlertKind, AlertRecord } from "../../shared/stored/alerts.ts";
import { createId } from "../../data-path/store/ids.ts";
import type { OrganizationRecord } from "../../shared/stored/management.ts";
import { formatOwnerIds } from "../../shared/stored/owner-ids.ts";
import type { Store } from "../../shared/stored/store.ts";
import {
  findLargest,
  type OwnerSpend,
  readOwnerName,
  readSpendByOwner,
  type SpendReader,
} from "./spend-by-owner.ts";
import { windowBefore } from "./summary.ts";

export type WatchStore = SpendReader &
  Pick<
    Store,
    | "listOrganizationIds"
    | "getOrganization"
    | "readLimits"
    | "takeWatch"
    | "wasRaised"
    | "raiseAlert"
    | "timeMs"
  >;

const INTERVAL_MS = internalWait(15 * 60_000);
/** Slightly less than the interval, so that the next look of the same process is not refused. */
const ROTATION_MS = INTERVAL_MS - internalWait(30_000);
/** Owners of an organization whose limits one look reads: with more, the next look continues. */
const MAX_PER_ROTATION = 1_000;
/** Owners read at once. */
const AT_ONCE = 8;
const USUAL_DAYS = 7;
/** Whole days with spend before forecasts and sudden spend alert: fewer say nothing about a usual day. */
const MIN_DAYS = 3;
/** Less than 1.00 a day is never sudden. */
const MIN_SUDDEN_CENTS = 100;
/** Hour of the day (UTC) at which summaries are sent. */
const SUMMARY_MS = 6 * 3_600_000;

export class AlertWatch {
  readonly #store: WatchStore;
  readonly #logger: Logger<"warn">;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor({ store, logger }: { readonly store: WatchStore; readonly logger: Logger<"warn"> }) {
    this.#store = store;
    this.#logger = logger;
  }

  start(): void {
    const look = (): void => {
      this.#running = this.look();
    };
    this.#timer = setInterval(look, INTERVAL_MS);
    this.#timer.unref();
    look();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  /** Looks at every organization, one after the other. Never rejects. */
  async look(): Promise<void> {
    try {
      for (const id of await this.#store.listOrganizationIds()) {
        if (this.#isStopped) return;
        await this.#lookAt(id);
      }
    } catch (error) {
      this.#logger.warn({ err: error }, "spend not checked for alerts, retrying");
    }
  }

  async #lookAt(id: string): Promise<void> {
    const organization = await this.#store.getOrganization(id);
    if (organization === null || !isWatched(organization)) return;
    if (!(await this.#store.takeWatch(id, ROTATION_MS))) return;
    await watchOrganization(this.#store, organization, await this.#store.timeMs());
  }
}

function isWatched({ notifications, deletedAtMs }: OrganizationRecord): boolean {
  const { forecast, suddenSpendPercent, summary } = notifications;
  return deletedAtMs === null && (forecast || suddenSpendPercent !== null || summary !== "off");
}

/** Fires what is due for an organization. */
export async function watchOrganization(
  store: WatchStore,
  organization: OrganizationRecord,
  nowMs: number,
): Promise<void> {
  const { forecast, suddenSpendPercent } = organization.notifications;
  const raiser = { store, organization, nowMs };
  await raiseSummary(raiser);
  if (!forecast && suddenSpendPercent === null) return;
  const today = dayAt(nowMs).name;
  const days = daysIn({ from: addDays(today, -USUAL_DAYS), to: today });
  const owners = (await readSpendByOwner(store, organization.id, days)).filter(
    (owner) => usualDays(owner, nowMs).length >= MIN_DAYS,
  );
  if (forecast) {
    const chosen = chooseByRotation(owners, MAX_PER_ROTATION, Math.floor(nowMs / INTERVAL_MS));
    await mapTogether(chosen, AT_ONCE, (owner) => raiseForecasts(raiser, owner));
  }
  if (suddenSpendPercent === null) return;
  for (const owner of findLargest(owners)) await raiseSudden(raiser, owner, suddenSpendPercent);
}

/** Returns the owners of a turn: the organization always, the others in turns, whichever processes take them. */
export function chooseByRotation<Owner extends Pick<OwnerSpend, "scope" | "id">>(
  owners: readonly Owner[],
  most: number,
  turn: number,
): readonly Owner[] {
  if (owners.length <= most) return owners;
  const whole = owners.filter(({ scope }) => scope === "organization");
  const furtherOwners = owners
    .filter((owner) => !whole.includes(owner))
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  const turns = Math.ceil(furtherOwners.length / most);
  const start = (turn % turns) * most;
  return [...whole, ...furtherOwners.slice(start, start + most)];
}

function nameOf({ scope, id }: Pick<OwnerSpend, "scope" | "id">): string {
  return `${scope} ${id ?? ""}`;
}

interface Raiser {
  readonly store: WatchStore;
  readonly organization: OrganizationRecord;
  readonly nowMs: number;
}

/** Lists the costs of the seven whole days before today, from the first that cost something. */
function usualDays({ days: costs }: OwnerSpend, nowMs: number): readonly number[] {
  const days = daysIn({ from: dayAt(nowMs - USUAL_DAYS * DAY_MS).name, to: dayAt(nowMs - DAY_MS).name });
  const week = days.map((day) => Math.max(0, Number(costs.get(day) ?? 0)));
  const first = week.findIndex((cost) => cost > 0);
  return first === -1 ? [] : week.slice(first);
}

async function raiseForecasts(raiser: Raiser, owner: OwnerSpend): Promise<void> {
  const costs = new Map([...owner.days].map(([day, cost]) => [day, Number(cost)]));
  const { store, organization, nowMs } = raiser;
  const month = monthAt(nowMs).name;
  const { scope, id } = owner;
  const owners = formatOwnerIds({
    userId: scope === "user" ? id : null,
    groupId: scope === "group" ? id : null,
  });
  const { limits } = await store.readLimits(organization.id, { keyId: scope === "key" ? id : null, owners });
  const own = limits.filter((limit) => limit.scope === scope && limit.period === "month" && limit.cents > 0);
  for (const { kind, cents, spentMicrocents } of own) {
    const { forecastMicrocents } = measureProgress(month, Number(spentMicrocents), costs, nowMs);
    const limit = cents * MICROCENTS_PER_CENT;
    // A limit that is reached has had its alert.
    const isReached = spentMicrocents >= BigInt(limit);
    if (isReached || forecastMicrocents === null || forecastMicrocents < limit) continue;
    await raise(raiser, owner, {
      kind: kind === "cap" ? "hard_cap_forecast" : "budget_forecast",
      period: "month",
      windowStart: `${month}-01`,
      thresholdPercent: Math.floor((forecastMicrocents / limit) * 100),
      amountCents: cents,
      spentMicrocents,
    });
  }
}

async function raiseSudden(raiser: Raiser, owner: OwnerSpend, percent: number): Promise<void> {
  const week = usualDays(owner, raiser.nowMs);
  const today = dayAt(raiser.nowMs).name;
  const spentMicrocents = owner.days.get(today) ?? 0n;
  const usual = week.reduce((sum, cost) => sum + cost, 0) / week.length;
  const spent = Number(spentMicrocents);
  if (spent < MIN_SUDDEN_CENTS * MICROCENTS_PER_CENT || spent * 100 < usual * percent) return;
  await raise(raiser, owner, {
    kind: "sudden_spend",
    period: "day",
    windowStart: today,
    thresholdPercent: Math.floor((spent / usual) * 100),
    amountCents: Math.floor(usual / MICROCENTS_PER_CENT),
    spentMicrocents,
  });
}

async function raiseSummary(raiser: Raiser): Promise<void> {
  const { store, organization, nowMs } = raiser;
  const { summary: period, emails } = organization.notifications;
  if (period === "off" || emails.length === 0) return;
  const window = windowBefore(period, nowMs - SUMMARY_MS);
  const own = { scope: "organization", id: null } as const;
  const named = { kind: "summary", period, windowStart: window.start } as const;
  const once = onceFor(own, named);
  if (organization.createdAtMs >= window.endMs) return;
  if (await store.wasRaised(organization.id, monthAt(window.endMs).name, once)) return;
  const sumOf = async (days: readonly string[]): Promise<bigint> =>
    (await readSpendByOwner(store, organization.id, days))[0]?.microcents ?? 0n;
  const spentMicrocents = await sumOf(window.days);
  const before = await sumOf(windowBefore(period, Date.parse(window.start)).days);
  const share = before === 0n ? 0n : (spentMicrocents * 100n) / before;
  const found = {
    ...named,
    thresholdPercent: Number(share),
    amountCents: wholeCents(before),
    spentMicrocents,
  };
  await raise(raiser, own, found, window.endMs);
}

type Found = Pick<
  AlertRecord,
  "period" | "windowStart" | "thresholdPercent" | "amountCents" | "spentMicrocents"
> & { readonly kind: AlertKind };

/** Fires an alert once for its owner, amount and window. @param atMs A time that every look at the window agrees on. */
async function raise(
  { store, organization, nowMs }: Raiser,
  owner: Pick<OwnerSpend, "scope" | "id">,
  found: Found,
  atMs = nowMs,
): Promise<void> {
  const once = onceFor(owner, found);
  const month = monthAt(atMs).name;
  if (await store.wasRaised(organization.id, month, once)) return;
  const name = await readOwnerName(store, organization.id, owner);
  // Deleted since.
  if (owner.id !== null && name === null) return;
  const isKey = owner.scope === "key";
  const firedAtMs = await store.timeMs();
  const id = createId("alert", firedAtMs);
  const alert: AlertRecord = {
    ...found,
    id,
    messageId: id,
    organizationId: organization.id,
    scope: owner.scope,
    ownerId: isKey ? null : owner.id,
    ownerName: isKey ? null : name,
    keyId: isKey ? owner.id : null,
    keyName: isKey ? name : null,
    currency: organization.currency,
    month,
    firedAtMs,
  };
  await store.raiseAlert(alert, once);
}

/** Returns what fires: limits once for each amount. */
function onceFor(
  { scope, id }: Pick<OwnerSpend, "scope" | "id">,
  {
    kind,
    period,
    windowStart,
    amountCents,
  }: Omit<Found, "spentMicrocents" | "thresholdPercent" | "amountCents"> & {
    readonly amountCents?: number;
  },
): string {
  const amount = kind === "budget_forecast" || kind === "hard_cap_forecast" ? ` ${amountCents ?? 0}` : "";
  return `${scope}${id === null ? "" : `:${id}`} ${kind} ${period} ${windowStart}${amount}`;
}
