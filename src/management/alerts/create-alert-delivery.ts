import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../../shared/time/clock.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { listenForAlerts } from "../../data-path/store/alerts/alert-listener.ts";
import type { RedisClient } from "../../data-path/store/redis/client.ts";
import type { Store } from "../../shared/stored/store.ts";
import { AlertDelivery } from "./delivery.ts";
import { EmailChannel } from "./email-channel.ts";
import { createMailer } from "./mailer.ts";
import { readSummary } from "./summary.ts";
import { WebhookChannel } from "./webhook-channel.ts";

export interface AlertDeliveryParts {
  readonly config: Pick<Config, "notifications">;
  readonly store: Store;
  readonly client: RedisClient;
  /** Base URL of the pages that emails and webhooks link to, without a final slash. */
  readonly pagesUrl: string;
  readonly clock: Clock;
  readonly logger: Logger<"info" | "warn">;
}

/** Creates the delivery of a process from the configuration. */
export function createAlertDelivery(parts: AlertDeliveryParts): AlertDelivery {
  const { config, store, client, pagesUrl, clock, logger } = parts;
  const { smtp, emails, webhooks } = config.notifications;
  const mailer = smtp === null ? null : createMailer(smtp);
  const onError = (error: Error): void =>
    logger.warn({ err: error }, "alert subscription failed, polling for alerts");
  return new AlertDelivery({
    store,
    channels: {
      email: new EmailChannel({
        mailer,
        store,
        ...emails,
        pagesUrl,
        logger,
        readDetails: (message, organization) => readSummary(store, message, organization),
      }),
      webhook: new WebhookChannel({ store, clock, pagesUrl, post: webhooks }),
    },
    listen: (events) => listenForAlerts(client, { ...events, onError }),
    owner: `${hostname()} ${process.pid} ${randomUUID()}`,
    clock,
    logger,
  });
}
