/** A delivery on a test's store, with a schedule of milliseconds, and what most tests of it begin with. */
import { randomUUID } from "node:crypto";
import { afterEach } from "vitest";
import { AlertDelivery, type AlertDeliveryOptions } from "../../src/management/alerts/delivery.ts";
import { EmailChannel } from "../../src/management/alerts/email-channel.ts";
import type { Mailer } from "../../src/management/alerts/mailer.ts";
import type { RetrySchedule } from "../../src/management/alerts/retry-schedule.ts";
import { createWebhookSecret } from "../../src/management/alerts/signature.ts";
import { readSummary } from "../../src/management/alerts/summary.ts";
import { WebhookChannel } from "../../src/management/alerts/webhook-channel.ts";
import { systemClock } from "../../src/shared/time/clock.ts";
import { listenForAlerts } from "../../src/data-path/store/alerts/alert-listener.ts";
import { type AlertChannel, deliveryOf, type DeliveryState } from "../../src/shared/stored/alerts.ts";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import {
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  type OpenedStore,
  type TestKey,
} from "../store/fixture.ts";
import { waitFor } from "../support/wait.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import type { WebhookReceiver } from "../support/webhook-receiver.ts";

export const CENT = 1_000_000n;
export const FAST: RetrySchedule = { firstWaitMs: 5, maxWaitMs: 40, jitter: 0.2, giveUpAfterMs: 60_000 };

export interface DeliveryOptions extends Partial<AlertDeliveryOptions> {
  readonly mailer?: Mailer | null;
  readonly emails?: { readonly maxPerHour: number; readonly allowedDomains: readonly string[] | null };
}

const UNBOUNDED = { maxPerHour: 10_000, allowedDomains: null };

/** Not started yet. */
export function createDelivery({ store, client }: OpenedStore, options: DeliveryOptions = {}): AlertDelivery {
  const { mailer = null, emails = UNBOUNDED, ...given } = options;
  const logger = { info: () => undefined, warn: () => undefined };
  return new AlertDelivery({
    store,
    channels: {
      email: new EmailChannel({
        mailer,
        store,
        ...emails,
        pagesUrl: "https://gateway.example.org",
        logger,
        readDetails: (message, organization) => readSummary(store, message, organization),
      }),
      webhook: new WebhookChannel({
        store,
        clock: systemClock,
        pagesUrl: "https://gateway.example.org",
        post: { allowPrivateNetworks: true },
      }),
    },
    listen: (events) => listenForAlerts(client, { ...events, onError: () => undefined }),
    owner: randomUUID(),
    clock: systemClock,
    logger,
    schedule: FAST,
    leaseMs: 300,
    ...given,
  });
}

/** Deliveries of a file's tests: those still in `running` end with each test, and the receiver forgets what it got. */
export function trackDeliveries(getStore: () => OpenedStore, getReceiver: () => WebhookReceiver) {
  const running: AlertDelivery[] = [];
  afterEach(async () => {
    const receiver = getReceiver();
    receiver.answer = null;
    receiver.received.length = 0;
    await Promise.all(running.splice(0).map((delivery) => delivery.stop()));
  });
  return {
    running,
    start: (options: DeliveryOptions = {}, under = getStore()): AlertDelivery => {
      const delivery = createDelivery(under, options);
      running.push(delivery);
      delivery.start();
      return delivery;
    },
    /** "budget 80", in the order in which the receiver got them. */
    events: () =>
      getReceiver().received.map(
        ({ event }) => `${event.type.split(".")[0]} ${String(event.data["threshold_percent"])}`,
      ),
  };
}

/** A key of an organization that is told by webhook. */
export function createHookedKey(
  { store }: OpenedStore,
  url: string,
  key: Partial<KeySettings>,
  organization: Partial<OrganizationSettings> & { emails?: readonly string[]; dashboard?: boolean } = {},
): Promise<TestKey> {
  const { emails = [], dashboard = true, ...settings } = organization;
  const secrets = [{ secret: createWebhookSecret(), expiresAtMs: null }];
  const notifications = { ...NO_WATCH, dashboard, emails, webhook: { url, secrets }, webhooks: [] };
  return createTestKey(store, key, { notifications, ...settings });
}

/** One request that costs this much, from start to end. */
export async function spend(
  { store }: Pick<OpenedStore, "store">,
  key: TestKey,
  microcents: bigint,
): Promise<void> {
  const identity = await createIdentity(store, key);
  await store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
}

/** The state of each alert's delivery to a channel, the oldest first. */
export async function listStates(
  { store }: Pick<OpenedStore, "store">,
  { organizationId }: { organizationId: string },
  channel: AlertChannel,
): Promise<DeliveryState[]> {
  const { items } = await store.listAlerts(organizationId, { limit: 100, after: null });
  const states = items.map((alert) => deliveryOf(alert, channel)).toReversed();
  return states.filter((state) => state !== null);
}

/** Waits until every alert of the organization has this state on a channel. */
export function waitForStates(
  test: Pick<OpenedStore, "store">,
  key: { organizationId: string },
  channel: AlertChannel,
  expected: readonly DeliveryState["state"][],
): Promise<DeliveryState[]> {
  return waitFor(`deliveries by ${channel}: ${expected.join(", ")}`, async () => {
    const states = await listStates(test, key, channel);
    const names = states.map(({ state }) => state);
    return JSON.stringify(names) === JSON.stringify(expected) && states;
  });
}
