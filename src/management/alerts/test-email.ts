/** Test of an organization's email addresses. */
import type { DeliveryStore } from "../../shared/stored/alerts.ts";
import type { OrganizationRecord } from "../../shared/stored/management.ts";
import { createId } from "../../data-path/store/ids.ts";
import { createTestMail } from "./alert-mail.ts";
import { describeMailError, type EmailServices, listRecipients } from "./email-channel.ts";

export type EmailTestResult =
  | { readonly outcome: "not set" }
  | { readonly outcome: "no mail server" }
  /** The limit of emails per hour is reached. */
  | { readonly outcome: "limited"; readonly waitMs: number }
  /** `error`: null if every recipient was accepted. */
  | { readonly outcome: "tried"; readonly recipients: readonly string[]; readonly error: string | null };

/** Sends one test email to all addresses of an organization, which counts in its limit per hour. */
export async function sendTestEmail(
  organization: OrganizationRecord,
  { mailer, maxPerHour, allowedDomains }: EmailServices,
  store: Pick<DeliveryStore, "takeEmail">,
  settingsUrl: string | null,
): Promise<EmailTestResult> {
  const to = listRecipients(organization, allowedDomains);
  if (to.length === 0) return { outcome: "not set" };
  if (mailer === null) return { outcome: "no mail server" };
  const waitMs = await store.takeEmail(organization.id, maxPerHour);
  if (waitMs > 0) return { outcome: "limited", waitMs };
  const mail = await createTestMail(organization.name, settingsUrl);
  const messageId = createId("alert", Date.now());
  try {
    const { refused } = await mailer.send({ ...mail, messageId, to, recipients: to });
    const reasons = refused.map(({ address, reason }) => `${address}: ${reason}`);
    return { outcome: "tried", recipients: to, error: reasons.length === 0 ? null : reasons.join("; ") };
  } catch (error) {
    return { outcome: "tried", recipients: to, error: describeMailError(error) };
  }
}
