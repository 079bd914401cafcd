/** One delivery attempt under a lease that is renewed meanwhile. */
import type { Logger } from "../../shared/host/logger.ts";
import {
  type AlertChannel,
  type AlertChannelKind,
  type ClaimedDelivery,
  kindOfChannel,
} from "../../shared/stored/alerts.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { Attempt, AttemptResult, Channel } from "./channel.ts";

export interface AttemptServices {
  readonly store: Pick<Store, "renewDelivery" | "getOrganization">;
  readonly channels: Readonly<Record<AlertChannelKind, Channel>>;
  readonly owner: string;
  readonly leaseMs: number;
  readonly logger: Logger<"warn">;
  /** Called if a renewal failed. */
  readonly onError: (error: unknown) => void;
}

const RENEWALS_PER_LEASE = 3;

/**
 * "broken off": the process ends, or another has taken over; the outcome is unknown.
 * @throws errors of the store.
 */
export async function attemptDelivery(
  claim: ClaimedDelivery,
  channel: AlertChannel,
  services: AttemptServices,
  ending: AbortSignal,
): Promise<AttemptResult | "broken off"> {
  if (claim.isForOtherChannels) return { outcome: "off" };
  const { store, owner, leaseMs, onError } = services;
  const { organizationId } = claim.message;
  const lost = new AbortController();
  const renew = (): void => {
    store
      .renewDelivery(organizationId, channel, owner, leaseMs)
      .then((isOurs) => isOurs || lost.abort(), onError);
  };
  const renewal = setInterval(renew, leaseMs / RENEWALS_PER_LEASE);
  try {
    const organization = await store.getOrganization(organizationId);
    if (organization === null) return { outcome: "off" };
    const signal = AbortSignal.any([lost.signal, ending]);
    const { message, entryId, queuedAtMs, progress } = claim;
    const attempt = { channel, message, entryId, queuedAtMs, organization, progress, signal };
    return await send(attempt, services);
  } finally {
    clearInterval(renewal);
  }
}

/** Treats an error thrown by a channel as a defect of ours: the alert is retried as usual. */
async function send(
  attempt: Attempt,
  { channels, logger }: AttemptServices,
): Promise<AttemptResult | "broken off"> {
  const { signal, message, channel } = attempt;
  const brokenOff = new Promise<"broken off">((resolve) => {
    signal.addEventListener("abort", () => resolve("broken off"), { once: true });
  });
  const sent = channels[kindOfChannel(channel)].attempt(attempt).catch((error: unknown): AttemptResult => {
    logger.warn(
      { err: error, channel, alert_id: message.id },
      "alert delivery attempt failed in the gateway",
    );
    return { outcome: "again", error: "the gateway failed to make the attempt" };
  });
  const result = await Promise.race([sent, brokenOff]);
  return signal.aborted && result !== "broken off" && result.outcome === "again" ? "broken off" : result;
}
