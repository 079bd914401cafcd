/** *Alerts*: fired alerts, their deliveries, and redelivery. */
import { readAlerts, readLimitsNow } from "../../api/alerts.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { AlertList, REDELIVER } from "../parts/alert-list.tsx";
import { Form } from "../parts/fields.tsx";
import { showAlert } from "./alert.tsx";
import { Layout } from "../parts/layout.tsx";
import { Older } from "../parts/table.tsx";

const PATH = "/organizations/:organization/alerts";
const SHOWN = 50;

async function showAlerts(page: OrganizationPageCall): Promise<PageAnswer> {
  if (!page.organization.notifications.dashboard) return showThatOff(page);
  const after = page.query.get("after");
  const { items, next } = await page.read(readAlerts, { limit: SHOWN, ...(after !== null && { after }) });
  const limitNow = await page.read(readLimitsNow, items);
  return showPage(
    <Layout page={page} title="Alerts" section="alerts">
      <p>
        Budgets alert at 80 % and 100 %, hard caps at 90 % and 100 %, daily limits at 100 %, unless a limit
        has its own percentages. Each alert fires once in each window (day, week, month, total). Change
        percentages, recipients, forecasts and summaries in{" "}
        <a href={`${page.base}/settings`}>Inference settings</a>, and percentages also on the pages of API
        keys, users and groups.
      </p>
      {page.unreadAlerts > 0 ? (
        <Form page={page} action={`${page.base}/alerts/read`} class="actions">
          <button type="submit" class="quiet">
            Mark all as read
          </button>
        </Form>
      ) : null}
      {items.length === 0 ? (
        <p class="card empty">No alerts yet. Budgets and hard caps send them.</p>
      ) : (
        <AlertList page={page} alerts={items} limitNow={limitNow} />
      )}
      <Older page={page} next={next} />
    </Layout>,
  );
}

/** Shown if the dashboard channel is disabled; alerts still fire and are stored. */
function showThatOff(page: OrganizationPageCall): PageAnswer {
  return showPage(
    <Layout page={page} title="Alerts" section="alerts">
      <p class="notice">
        This dashboard shows no alerts, because the channel is off in{" "}
        <a href={`${page.base}/settings#notifications.emails`}>Inference settings</a>. The management API and{" "}
        <code>inference-gateway alerts list</code> still list them.
      </p>
    </Layout>,
  );
}

async function markRead(page: OrganizationPageCall): Promise<PageAnswer> {
  await page.api("POST /api/organizations/{organization}/alerts/mark-read");
  return { redirect: `${page.base}/alerts?done=read` };
}

async function sendAgain(page: OrganizationPageCall): Promise<PageAnswer> {
  await page.api(REDELIVER, { body: {} });
  return { redirect: `${page.base}/alerts?done=sent` };
}

export const alertPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, runInOrganization: showAlerts },
  {
    method: "GET",
    path: `${PATH}/:alert`,
    runInOrganization: async (page) =>
      page.organization.notifications.dashboard ? showAlert(page) : showThatOff(page),
  },
  { method: "POST", path: `${PATH}/read`, access: "read", runInOrganization: markRead },
  { method: "POST", path: `${PATH}/:alert/redeliver`, runInOrganization: sendAgain },
];
