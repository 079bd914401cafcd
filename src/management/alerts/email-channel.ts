/**
 * Alerts as emails to the organization's addresses, with a limit per hour. Further alerts wait for the next
 * hour and are combined in one email.
 */
import * as z from "zod";
import type { Logger } from "../../shared/host/logger.ts";
import { createAlertMail } from "./alert-mail.ts";
import type { Attempt, AttemptResult, Channel } from "./channel.ts";
import type { Mail, Mailer, MailResult } from "./mailer.ts";
import { isAllowedAddress } from "../../shared/settings/email-domains.ts";
import type { OrganizationRecord } from "../../shared/stored/management.ts";
import type { AlertMessage, DeliveryStore, QueuedMessage } from "../../shared/stored/alerts.ts";

/** Mail server, and limits of emails. */
export interface EmailServices {
  /** Null: no mail server is configured. */
  readonly mailer: Mailer | null;
  /** Emails per organization. */
  readonly maxPerHour: number;
  /** Null: all. */
  readonly allowedDomains: readonly string[] | null;
}

export interface EmailChannelOptions extends EmailServices {
  readonly store: Pick<DeliveryStore, "takeEmail" | "listQueued">;
  /** Reads the lines of a summary; none for other messages. */
  readonly readDetails: (
    message: AlertMessage,
    organization: OrganizationRecord,
  ) => Promise<readonly string[]>;
  /** Base URL of the pages that emails link to, without a final slash. */
  readonly pagesUrl: string;
  readonly logger: Logger<"warn">;
}

/** State of earlier attempts, so that no recipient gets an email twice. */
const progressSchema = z.object({
  left: z.array(z.string()),
  accepted: z.number(),
  /** "a@example.com: 550 no such user" */
  refused: z.array(z.string()),
  /** True if it was counted in its hour. */
  isCounted: z.boolean(),
  /** True if the email waited for the next hour: later messages are then combined with it. */
  waited: z.boolean(),
  /** Outbox entry of the last message in the email; null until the email was built. */
  until: z.string().nullable(),
});
type Progress = z.output<typeof progressSchema>;

/** Messages combined in one email; more follow in the next. */
const MAX_COVERED = 500;
const NO_MAIL_SERVER = "no mail server is configured (`notifications.smtp`)";

export class EmailChannel implements Channel {
  readonly #options: EmailChannelOptions;

  constructor(options: EmailChannelOptions) {
    this.#options = options;
  }

  async attempt(attempt: Attempt): Promise<AttemptResult> {
    const { message, organization, progress: before } = attempt;
    const { mailer, store, maxPerHour, allowedDomains } = this.#options;
    const emails = listRecipients(organization, allowedDomains);
    const progress = parseProgress(before, emails);
    if (progress.left.length === 0) {
      return progress.accepted + progress.refused.length > 0 ? conclude(progress) : { outcome: "off" };
    }
    // Retried: a mail server may have been removed from the configuration by mistake.
    if (mailer === null) return { outcome: "again", error: NO_MAIL_SERVER };
    const waitMs = progress.isCounted ? 0 : await store.takeEmail(organization.id, maxPerHour);
    if (waitMs > 0) {
      const reason = `the limit of ${maxPerHour} emails per hour is reached; one email with all waiting alerts follows`;
      return { outcome: "later", waitMs, reason, progress: JSON.stringify({ ...progress, waited: true }) };
    }
    const covered = progress.waited ? await this.#listCovered(attempt, progress.until) : [];
    const counted = { ...progress, isCounted: true, until: covered.at(-1)?.entryId ?? null };
    try {
      const result = await mailer.send(await this.#write(attempt, covered, emails, counted.left));
      return conclude(advance(counted, result), covered, result);
    } catch (error) {
      this.#options.logger.warn({ err: error, alert_id: message.id }, "email rejected by the mail server");
      return { outcome: "again", error: describeMailError(error), progress: JSON.stringify(counted) };
    }
  }

  /** Lists the messages; the same in each attempt. */
  async #listCovered(
    { organization, channel, entryId }: Attempt,
    until: string | null,
  ): Promise<readonly QueuedMessage[]> {
    const queued = await this.#options.store.listQueued(organization.id, channel, entryId, MAX_COVERED);
    if (until === null) return queued;
    return queued.slice(0, queued.findIndex((one) => one.entryId === until) + 1);
  }

  async #write(
    { message, organization }: Attempt,
    covered: readonly QueuedMessage[],
    to: readonly string[],
    recipients: readonly string[],
  ): Promise<Mail> {
    const furtherAlerts = covered
      .filter(({ isForOtherChannels }) => !isForOtherChannels)
      .map((queued) => queued.message);
    const about = { organizationName: organization.name, pagesUrl: this.#options.pagesUrl };
    const details = await this.#options.readDetails(message, organization);
    const mail = await createAlertMail({ ...about, message, details, furtherAlerts });
    return { ...mail, messageId: message.id, to, recipients };
  }

  close(): void {
    this.#options.mailer?.close();
  }
}

/** Lists the organization's addresses that the operator allows. */
export function listRecipients(
  { notifications }: Pick<OrganizationRecord, "notifications">,
  allowedDomains: readonly string[] | null,
): readonly string[] {
  return notifications.emails.filter((one) => isAllowedAddress(one, allowedDomains));
}

/** Addresses that were removed meanwhile get no further attempts. */
function parseProgress(text: string, emails: readonly string[]): Progress {
  if (text === "") {
    return { left: [...emails], accepted: 0, refused: [], isCounted: false, waited: false, until: null };
  }
  const progress = progressSchema.parse(JSON.parse(text));
  return { ...progress, left: progress.left.filter((address) => emails.includes(address)) };
}

function advance(before: Progress, { accepted, refused }: MailResult): Progress {
  const permanent = refused.filter(({ isPermanent }) => isPermanent);
  const temporary = refused.filter(({ isPermanent }) => !isPermanent);
  return {
    ...before,
    left: temporary.map(({ address }) => address),
    accepted: before.accepted + accepted.length,
    refused: [...before.refused, ...permanent.map(({ address, reason }) => `${address}: ${reason}`)],
  };
}

function conclude(
  progress: Progress,
  covered: readonly QueuedMessage[] = [],
  result?: MailResult,
): AttemptResult {
  const { left: remaining, accepted, refused } = progress;
  if (remaining.length > 0) {
    const reasons = result?.refused.map(({ address, reason }) => `${address}: ${reason}`) ?? remaining;
    return { outcome: "again", error: reasons.join("; "), progress: JSON.stringify(progress) };
  }
  if (accepted === 0) return { outcome: "failed", error: refused.join("; ") };
  return {
    outcome: "delivered",
    ...(refused.length === 0 ? {} : { note: refused.join("; ") }),
    ...(covered.length === 0 ? {} : { covered }),
  };
}

/** Describes an error for customers by its kind only, since the server is the operator's; the log has the details. */
export function describeMailError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  return `the mail server could not be reached or did not accept the email${code}`;
}
