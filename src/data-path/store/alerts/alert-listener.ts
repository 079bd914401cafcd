/** Hears of alerts as they fire. A convenience: what is missed while the connection is away, a sweep finds afterwards. */
import type { RedisClient } from "../redis/client.ts";
import { ALERT_CHANNEL } from "../redis/keys.ts";

const RETRY_MS = 1_000;

export interface AlertListener {
  close(): void;
}

export interface AlertListenerEvents {
  readonly onAlert: (organizationId: string) => void;
  /** Says that nothing is missed from now on; before, something may have been. */
  readonly onListening: () => void;
  readonly onError: (error: Error) => void;
}

/** Listens on a connection of its own, which comes back by itself. */
export function listenForAlerts(client: RedisClient, events: AlertListenerEvents): AlertListener {
  const { onAlert, onListening, onError } = events;
  // Overloads of a union cannot be called as one; the call is the same for a server and a cluster.
  const subscriber = (client as { duplicate(): RedisClient }).duplicate();
  let timer: NodeJS.Timeout | undefined;
  const subscribe = (): void => {
    clearTimeout(timer);
    subscriber.subscribe(ALERT_CHANNEL).then(onListening, (error: Error) => {
      onError(error);
      // A cluster's connection for subscriptions is ready a little after the cluster is.
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
