/**
 * Subscription to alerts as they fire. Only saves time: a sweep finds alerts that were missed while the
 * connection was down.
 */
import type { RedisClient } from "../redis/client.ts";
import { ALERT_CHANNEL } from "../redis/keys.ts";

const RETRY_MS = 1_000;

export interface AlertListener {
  close(): void;
}

export interface AlertListenerEvents {
  readonly onAlert: (organizationId: string) => void;
  /** Called when the subscription is active; earlier alerts may have been missed. */
  readonly onListening: () => void;
  readonly onError: (error: Error) => void;
}

/** Subscribes on a separate connection, which reconnects by itself. */
export function listenForAlerts(client: RedisClient, events: AlertListenerEvents): AlertListener {
  const { onAlert, onListening, onError } = events;
  // Overloads of a union cannot be called as one; the call is the same for a server and a cluster.
  const subscriber = (client as { duplicate(): RedisClient }).duplicate();
  let timer: NodeJS.Timeout | undefined;
  const subscribe = (): void => {
    clearTimeout(timer);
    subscriber.subscribe(ALERT_CHANNEL).then(onListening, (error: Error) => {
      onError(error);
      // A cluster's connection for subscriptions becomes ready slightly after the cluster.
      timer = setTimeout(subscribe, RETRY_MS);
      timer.unref();
    });
  };
  subscriber.on("error", onError);
  subscriber.on("message", (_channel: string, organizationId: string) => onAlert(organizationId));
  subscriber.on("ready", subscribe);
  return {
    close: () => {
      clearTimeout(timer);
      subscriber.off("ready", subscribe);
      subscriber.disconnect();
    },
  };
}
