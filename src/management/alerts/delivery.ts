/**
 * Delivers alerts from the outbox to the organization's channels: at least once, in order per organization
 * and channel. An alert enters the outbox in the same step as the spend that fired it
 * (`store/lua/include/thresholds.lua`); this file decides when and how often delivery is attempted, never
 * whether an alert fires.
 * Every host runs one. A lease in Redis, renewed during an attempt, allows one of them per channel of an
 * organization; another host repeats the attempts of a dead process, so a receiver may get an alert twice and
 * must compare ids. Redis's messages wake the delivery at once; a sweep of all organizations finds missed
 * ones. Without Redis nothing is delivered and nothing is lost. Organizations must never delay each other:
 * attempts have a timeout, and endpoints that failed before have a separate lane.
 */
import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { AlertListener, AlertListenerEvents } from "../../data-path/store/alerts/alert-listener.ts";
import {
  type AlertChannel,
  type AlertChannelKind,
  type ClaimedDelivery,
  kindOfChannel,
  type OutstandingDelivery,
} from "../../shared/stored/alerts.ts";
import type { Store } from "../../shared/stored/store.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import type { AttemptResult, Channel } from "./channel.ts";
import { concludeAttempt } from "./conclude-attempt.ts";
import { Lane } from "./lane.ts";
import { type AlertMetrics, createChannelCounters } from "./metrics.ts";
import { RETRY_SCHEDULE, type RetrySchedule } from "./retry-schedule.ts";

export interface AlertDeliveryOptions {
  readonly store: Pick<
    Store,
    | "claimDelivery"
    | "renewDelivery"
    | "finishDelivery"
    | "listOutstandingDeliveries"
    | "listOrganizationIds"
    | "getOrganization"
    | "firedAlerts"
  >;
  readonly channels: Readonly<Record<AlertChannelKind, Channel>>;
  readonly listen: (events: Pick<AlertListenerEvents, "onAlert" | "onListening">) => AlertListener;
  /** Unique id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger<"info" | "warn">;
  readonly schedule?: RetrySchedule;
  readonly leaseMs?: number;
}

/** Time after the death of a process until another takes over. */
const LEASE_MS = 5_000;
const SWEEP_INTERVAL_MS = 60_000;
const SWEEP_WIDTH = 16;
const REDIS_RETRY_MS = 2_000;
const FINISH_ATTEMPTS = 3;
const STOP_GRACE_MS = 2_000;
/** Concurrent attempts. A failing endpoint leaves the first lane after one attempt. */
const LANE_WIDTH: Readonly<Record<AlertChannelKind, number>> = { email: 8, webhook: 128 };

/** One channel of one organization, while it has work. */
interface Courier {
  readonly organizationId: string;
  readonly channel: AlertChannel;
  isBusy: boolean;
  /** True if it was woken while busy. */
  isWoken: boolean;
  hasFailed: boolean;
  timer: NodeJS.Timeout | null;
}

export class AlertDelivery {
  readonly #options: AlertDeliveryOptions;
  readonly #couriers = new Map<string, Courier>();
  readonly #lanes: Readonly<Record<AlertChannelKind, { readonly first: Lane; readonly again: Lane }>>;
  readonly #counters = createChannelCounters();
  readonly #abort = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #listener: AlertListener | null = null;
  #sweepTimer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #isRedisUnreachable = false;
  #oldestQueuedAtMs: number | null = null;

  constructor(options: AlertDeliveryOptions) {
    this.#options = options;
    const create = (width: number) => ({ first: new Lane(width), again: new Lane(width) });
    this.#lanes = { email: create(LANE_WIDTH.email), webhook: create(LANE_WIDTH.webhook) };
  }

  /** Starts with a sweep: deliveries that the last process left are sent now. */
  start(): void {
    const sweep = (): void => this.#track(this.sweep());
    const onAlert = (organizationId: string): void => this.#track(this.#onAlert(organizationId));
    this.#listener = this.#options.listen({ onAlert, onListening: sweep });
    this.#sweepTimer = setInterval(sweep, SWEEP_INTERVAL_MS);
    this.#sweepTimer.unref();
    sweep();
  }

  /** Waits a moment for attempts in flight, then aborts them; another process repeats them. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#listener?.close();
    if (this.#sweepTimer !== null) clearInterval(this.#sweepTimer);
    for (const { timer } of this.#couriers.values()) if (timer !== null) clearTimeout(timer);
    const grace = setTimeout(() => this.#abort.abort(), STOP_GRACE_MS);
    await Promise.allSettled(this.#running);
    clearTimeout(grace);
    for (const channel of Object.values(this.#options.channels)) channel.close();
  }

  readMetrics(): AlertMetrics {
    const { store, clock } = this.#options;
    const oldest = this.#oldestQueuedAtMs;
    return {
      fired: store.firedAlerts(),
      channels: { email: { ...this.#counters.email }, webhook: { ...this.#counters.webhook } },
      oldestUndeliveredSeconds: oldest === null ? 0 : Math.max(0, (clock.nowMs() - oldest) / 1000),
    };
  }

  /** Wakes every channel with outstanding deliveries, of every organization. Never rejects. */
  async sweep(): Promise<void> {
    const lane = new Lane(SWEEP_WIDTH);
    let oldest: number | null = null;
    const look = async (organizationId: string): Promise<void> => {
      for (const { queuedAtMs } of await this.#wakeOrganization(organizationId)) {
        oldest = Math.min(oldest ?? queuedAtMs, queuedAtMs);
      }
    };
    try {
      const ids = await this.#options.store.listOrganizationIds();
      await Promise.all(ids.map((id) => lane.run(() => look(id))));
      this.#oldestQueuedAtMs = oldest;
      this.#isRedisUnreachable = false;
    } catch (error) {
      this.#noteOutage(error);
    }
  }

  /** Wakes the channels of an organization with outstanding deliveries, and returns them. */
  async #wakeOrganization(organizationId: string): Promise<readonly OutstandingDelivery[]> {
    if (this.#isStopped) return [];
    const all = await this.#options.store.listOutstandingDeliveries(organizationId);
    for (const { channel, waitMs } of all) this.#wake(organizationId, channel, waitMs);
    return all;
  }

  /** Never rejects. */
  async #onAlert(organizationId: string): Promise<void> {
    try {
      await this.#wakeOrganization(organizationId);
    } catch (error) {
      this.#noteOutage(error);
      setTimeout(() => this.#track(this.sweep()), REDIS_RETRY_MS).unref();
    }
  }

  #wake(organizationId: string, channel: AlertChannel, waitMs: number): void {
    if (this.#isStopped) return;
    const name = `${organizationId} ${channel}`;
    const courier = this.#couriers.get(name) ?? createCourier(organizationId, channel);
    this.#couriers.set(name, courier);
    if (courier.isBusy) {
      courier.isWoken = true;
      return;
    }
    if (courier.timer !== null) clearTimeout(courier.timer);
    courier.timer = null;
    if (waitMs > 0) {
      courier.timer = setTimeout(() => this.#wake(organizationId, channel, 0), waitMs);
      courier.timer.unref();
      return;
    }
    courier.isBusy = true;
    this.#track(this.#run(name, courier));
  }

  #track(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Runs one attempt; the next one waits for its turn among all others. */
  async #run(name: string, courier: Courier): Promise<void> {
    const lanes = this.#lanes[kindOfChannel(courier.channel)];
    const waitMs = await (courier.hasFailed ? lanes.again : lanes.first).run(() => this.#stepSafely(courier));
    courier.isBusy = false;
    const isWoken = courier.isWoken;
    courier.isWoken = false;
    if (waitMs === null && !isWoken) this.#couriers.delete(name);
    else this.#wake(courier.organizationId, courier.channel, isWoken ? 0 : (waitMs ?? 0));
  }

  async #stepSafely(courier: Courier): Promise<number | null> {
    if (this.#isStopped) return null;
    try {
      return await this.#step(courier);
    } catch (error) {
      this.#noteOutage(error);
      return REDIS_RETRY_MS;
    }
  }

  /** Returns the milliseconds until the next step, null if there is none. */
  async #step(courier: Courier): Promise<number | null> {
    const { store, owner, leaseMs = LEASE_MS } = this.#options;
    const { organizationId, channel } = courier;
    const claim = await store.claimDelivery(organizationId, channel, owner, leaseMs);
    if (claim.outcome === "idle") return null;
    if (claim.outcome !== "claimed") return claim.waitMs;
    const services = { ...this.#options, leaseMs, onError: (error: unknown) => this.#noteOutage(error) };
    const result = await attemptDelivery(claim, channel, services, this.#abort.signal);
    return this.#finish(courier, claim, result);
  }

  async #finish(
    courier: Courier,
    claim: ClaimedDelivery,
    result: AttemptResult | "broken off",
  ): Promise<number | null> {
    const { store, owner, clock, logger, schedule = RETRY_SCHEDULE } = this.#options;
    const { organizationId, channel } = courier;
    const base = { organizationId, channel, owner, claim };
    if (result === "broken off") {
      await store.finishDelivery({ ...base, outcome: "untried", shown: null });
      return 0;
    }
    const conclusion = concludeAttempt(claim, result, {
      schedule,
      nowMs: clock.nowMs(),
      random: Math.random(),
    });
    const { waitMs, outcome, shown } = conclusion;
    const { progress, covered = [] } = conclusion;
    const input = { ...base, outcome, waitMs, progress, shown, covered };
    // Retry the write a few times, so that a lost Redis reply does not cause a duplicate delivery.
    const isRecorded = await repeat(FINISH_ATTEMPTS, () => store.finishDelivery(input));
    if (!isRecorded) return 0;
    courier.hasFailed = outcome === "again";
    this.#count(channel, conclusion.shown?.state ?? "off", conclusion.isFailedAttempt);
    const fields = {
      organization_id: organizationId,
      channel,
      alert_id: claim.message.id,
      attempts: shown?.attempts,
      wait_ms: waitMs,
    };
    if (shown?.state === "delivered") logger.info(fields, "alert delivered");
    if (conclusion.isFailedAttempt) {
      const message = shown?.state === "failed" ? "alert delivery given up" : "alert not delivered, retrying";
      logger.warn({ ...fields, reason: shown?.lastError }, message);
    }
    return waitMs;
  }

  #count(channel: AlertChannel, state: string, isFailedAttempt: boolean): void {
    const counters = this.#counters[kindOfChannel(channel)];
    if (isFailedAttempt) counters.failedAttempts += 1;
    if (state === "delivered") counters.delivered += 1;
    if (state === "failed") counters.failed += 1;
  }

  /** Logs once per outage. */
  #noteOutage(error: unknown): void {
    if (!this.#isRedisUnreachable && !this.#isStopped) {
      this.#options.logger.warn({ err: error }, "alerts not delivered, retrying");
    }
    this.#isRedisUnreachable = true;
  }
}

function createCourier(organizationId: string, channel: AlertChannel): Courier {
  return { organizationId, channel, isBusy: false, isWoken: false, hasFailed: false, timer: null };
}

async function repeat<Result>(attempts: number, run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= attempts) throw error;
    }
  }
}
