/** @jsxImportSource hono/jsx */
/** The end of an organization, from *Inference settings*, for the operator. */
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { askFirst, isSure } from "../parts/confirmation.tsx";
import { Form } from "../parts/fields.tsx";

const PATH = "/organizations/:organization/settings/delete";
const WHAT_ENDS =
  "From the next request on its keys are refused; its tokens, alerts and webhooks end, and its name is free again. " +
  "What it has spent stays for you to read.";

function questionOf({ organization }: OrganizationPageCall): string {
  return `Delete the organization "${organization.name}"? ${WHAT_ENDS} This cannot be undone.`;
}

/** Nothing but for the operator, of an organization that is there. */
export function OrganizationDeletion({ page }: { page: OrganizationPageCall }) {
  if (!page.isOperator || !page.canChange) return null;
  return (
    <section class="card" aria-labelledby="delete">
      <h2 id="delete">Delete the organization</h2>
      <p>For good. {WHAT_ENDS}</p>
      <Form page={page} action={`${page.base}/settings/delete`} confirm={questionOf(page)}>
        <button type="submit" class="danger">
          Delete the organization
        </button>
      </Form>
    </section>
  );
}

async function deleteOrganization(page: OrganizationPageCall): Promise<PageAnswer> {
  if (!isSure(page)) {
    return askFirst(page, {
      title: "Delete an organization",
      section: "settings",
      text: questionOf(page),
      answer: "Delete the organization",
      back: `${page.base}/settings`,
    });
  }
  await page.api("DELETE /api/organizations/{organization}");
  return { redirect: "/organizations?done=organization_deleted" };
}

export const organizationDeletionRoutes: readonly PageRoute[] = [
  { method: "POST", path: PATH, access: "operator", runInOrganization: deleteOrganization },
];
