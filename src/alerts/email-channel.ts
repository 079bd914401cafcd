/** Alerts as mails to the addresses that the organization has given. */
import * as z from "zod";
import type { Logger } from "../host/logger.ts";
import { createAlertMail } from "./alert-mail.ts";
import type { Attempt, AttemptResult, Channel } from "./channel.ts";
import type { Mailer, MailResult } from "./mailer.ts";

export interface EmailChannelOptions {
  /** Null: the operator has configured no mail server. */
  readonly mailer: Mailer | null;
  /** Base of the pages that mails link to, without a slash at its end. */
  readonly pagesUrl: string;
  readonly logger: Logger<"warn">;
}

/** What earlier attempts have done: who has it gets it only once. */
const progressSchema = z.object({
  left: z.array(z.string()),
  accepted: z.number(),
  /** "a@example.com: 550 no such user" */
  refused: z.array(z.string()),
});
type Progress = z.output<typeof progressSchema>;

const NO_MAIL_SERVER = "no mail server is configured (`notifications.smtp`)";

export class EmailChannel implements Channel {
  readonly #options: EmailChannelOptions;

  constructor(options: EmailChannelOptions) {
    this.#options = options;
  }

  async attempt({ message, organization, progress: before }: Attempt): Promise<AttemptResult> {
    const { emails } = organization.notifications;
    const progress = parseProgress(before, emails);
    if (progress.left.length === 0) {
      return progress.accepted + progress.refused.length > 0 ? conclude(progress) : { outcome: "off" };
    }
    const { mailer, pagesUrl } = this.#options;
    // Retried: a server that was taken out of the configuration by mistake comes back.
    if (mailer === null) return { outcome: "again", error: NO_MAIL_SERVER };
    try {
      const mail = await createAlertMail({ message, organizationName: organization.name, pagesUrl });
      const addressed = { messageId: message.id, to: emails, recipients: progress.left };
      const result = await mailer.send({ ...mail, ...addressed });
      return conclude(advance(progress, result), result);
    } catch (error) {
      this.#options.logger.warn({ err: error, alert_id: message.id }, "email rejected by the mail server");
      return { outcome: "again", error: describeMailError(error), progress: JSON.stringify(progress) };
    }
  }

  close(): void {
    this.#options.mailer?.close();
  }
}

/** An address that was removed meanwhile gets no further attempt. */
function parseProgress(text: string, emails: readonly string[]): Progress {
  if (text === "") return { left: [...emails], accepted: 0, refused: [] };
  const progress = progressSchema.parse(JSON.parse(text));
  return { ...progress, left: progress.left.filter((address) => emails.includes(address)) };
}

function advance(before: Progress, { accepted, refused }: MailResult): Progress {
  const permanent = refused.filter(({ isPermanent }) => isPermanent);
  const temporary = refused.filter(({ isPermanent }) => !isPermanent);
  return {
    left: temporary.map(({ address }) => address),
    accepted: before.accepted + accepted.length,
    refused: [...before.refused, ...permanent.map(({ address, reason }) => `${address}: ${reason}`)],
  };
}

function conclude(progress: Progress, result?: MailResult): AttemptResult {
  const { left, accepted, refused } = progress;
  if (left.length > 0) {
    const reasons = result?.refused.map(({ address, reason }) => `${address}: ${reason}`) ?? left;
    return { outcome: "again", error: reasons.join("; "), progress: JSON.stringify(progress) };
  }
  if (accepted === 0) return { outcome: "failed", error: refused.join("; ") };
  return refused.length === 0 ? { outcome: "delivered" } : { outcome: "delivered", note: refused.join("; ") };
}

/** The server is the operator's: customers read what kind of trouble it is, the log has the rest. */
function describeMailError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  return `the mail server could not be reached or did not take the email${code}`;
}
