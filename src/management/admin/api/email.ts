/** `…/email/test`: a test email to the addresses of an organization. */
import { sendTestEmail } from "../../alerts/test-email.ts";
import { formatSettingsPath } from "../../../shared/contract/pages.ts";
import { AdminError } from "../admin-error.ts";
import { emailTest } from "../schemas/alert.ts";
import { defineOrganizationRoute } from "./route.ts";

const test = defineOrganizationRoute({
  method: "POST",
  path: "/api/organizations/{organization}/email/test",
  operationId: "testEmail",
  summary: "Send a test email to the addresses in `notifications.emails`, and return the result.",
  description: "It counts as one of the organization's emails of this hour.",
  answers: { 200: emailTest },
  handleInOrganization: async ({ organization }, { store, email, dashboardUrl = null }) => {
    const path = formatSettingsPath({ organizationId: organization.id });
    const settingsUrl = dashboardUrl === null ? null : `${dashboardUrl}${path}`;
    const startMs = performance.now();
    const result = await sendTestEmail(organization, email, store, settingsUrl);
    if (result.outcome === "not set") throw new AdminError("email_not_set");
    if (result.outcome === "no mail server") {
      const message = "This gateway has no mail server; its operator can set one in `notifications.smtp`.";
      throw new AdminError("email_not_set", { message });
    }
    if (result.outcome === "limited") {
      const seconds = Math.ceil(result.waitMs / 1000);
      throw new AdminError("too_many_emails", { headers: { "retry-after": String(seconds) } });
    }
    const { recipients, error } = result;
    const durationMs = Math.round(performance.now() - startMs);
    return { status: 200, body: { delivered: error === null, recipients, error, duration_ms: durationMs } };
  },
});

export const emailRoutes = [test];
