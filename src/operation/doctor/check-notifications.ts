/** Checks of alert delivery: the mail server and organizations' webhooks. Sends nothing. */
import { isIP } from "node:net";
import { createMailer } from "../../management/alerts/mailer.ts";
import { findWebhookAddresses } from "../../management/alerts/post-webhook.ts";
import { listWebhooks } from "../../management/alerts/webhooks.ts";
import { describeConnectionError, WebhookError } from "../../management/alerts/webhook-error.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { RedisClient } from "../../data-path/store/redis/client.ts";
import { createStore } from "../../data-path/store/redis-store.ts";
import { tryConnect } from "../../shared/host/connect.ts";
import { type DoctorFinding, type FindingCode, FINDINGS, found, ok, reasonOf, skipped } from "./finding.ts";

/** A sample of webhooks suffices to check whether they can leave this host. */
const MAX_WEBHOOKS = 20;
/** Error codes of nodemailer: login, and required but unavailable STARTTLS. */
const SMTP_CODES: Readonly<Record<string, FindingCode>> = {
  EAUTH: "smtp_login_refused",
  ETLS: "smtp_unencrypted",
};

/** Checks a complete SMTP greeting with TLS and login. */
export async function checkSmtp({ notifications }: Config): Promise<DoctorFinding[]> {
  const { smtp } = notifications;
  if (smtp === null) {
    return [skipped("smtp", "No mail server is configured, so organizations can't choose email.")];
  }
  const { host } = new URL(smtp.url);
  const mailer = createMailer(smtp);
  try {
    await mailer.verify();
    return [ok("smtp", `The mail server ${host} accepts the gateway.`)];
  } catch (error) {
    const code = SMTP_CODES[String((error as { code?: unknown }).code)] ?? "smtp_unreachable";
    const message = `The mail server ${host} can't be used: ${reasonOf(error)}.`;
    return [
      found(code, "smtp", { message, fix: `${FINDINGS[code].fix} Alerts are retried for up to three days.` }),
    ];
  } finally {
    mailer.close();
  }
}

/** Checks organizations' webhooks: allowed targets, and reachability. */
export async function checkWebhooks(config: Config, client: RedisClient): Promise<DoctorFinding[]> {
  const store = createStore({ client, usageMonths: config.retention.usageMonths });
  const urls = new Map<string, URL>();
  for (const id of await store.listOrganizationIds()) {
    if (urls.size >= MAX_WEBHOOKS) break;
    const organization = await store.getOrganization(id);
    for (const { url } of organization === null ? [] : listWebhooks(organization.notifications)) {
      if (URL.canParse(url)) urls.set(new URL(url).origin, new URL(url));
    }
  }
  if (urls.size === 0) return [skipped("webhooks", "No organization has a webhook.")];
  const { allowPrivateNetworks } = config.notifications.webhooks;
  const all = await Promise.all([...urls.values()].map((url) => checkWebhook(url, allowPrivateNetworks)));
  const wrong = all.filter((finding) => finding !== null);
  return wrong.length > 0 ? wrong : [ok("webhooks", `All hosts of webhooks can be reached: ${urls.size}.`)];
}

/** Only names the host, since the path may contain a token. */
async function checkWebhook(url: URL, allowPrivateNetworks: boolean): Promise<DoctorFinding | null> {
  const { host, hostname, port, protocol } = url;
  const isTls = protocol === "https:";
  try {
    const [first] = await findWebhookAddresses(url, { allowPrivateNetworks });
    const address = {
      host: first?.address ?? hostname,
      port: port === "" ? (isTls ? 443 : 80) : Number(port),
    };
    const serverName = isIP(address.host) !== 0 && first?.address === hostname ? null : hostname;
    await tryConnect({ address, ...(isTls ? { tls: { serverName } } : {}) });
    return null;
  } catch (error) {
    if (error instanceof WebhookError) {
      const message = `The gateway sends nothing to the webhook host ${host}: ${error.message}.`;
      return found("webhook_not_allowed", "webhooks", { message });
    }
    const reason = error instanceof Error ? describeConnectionError(error).message : String(error);
    const message = `The webhook host ${host} can't be reached: ${reason}.`;
    return found("webhook_unreachable", "webhooks", { message });
  }
}
