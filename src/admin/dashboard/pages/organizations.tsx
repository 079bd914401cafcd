/** @jsxImportSource hono/jsx */
/** The operator's start page: all organizations, and a new one. */
import { AdminError } from "../../admin-error.ts";
import { NO_PROBLEMS, type Problems, readBody, splitProblems } from "../form.ts";
import { formatLimit, formatMoney } from "../format.ts";
import type { PageAnswer, PageCall, PageRoute } from "../page.ts";
import { SpendBar } from "../parts/charts.tsx";
import { Field, Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { Older, pageQueryOf } from "../parts/older.tsx";
import type { OrganizationPageView, OrganizationView } from "../views.ts";

const PATH = "/organizations";
const LIST = "/api/organizations";
const FIELDS = { name: "text", currency: "text", hard_cap_cents: "amount", budget_cents: "amount" } as const;

/** The operator's list, or the one organization that a token is for. */
async function showStart(page: PageCall): Promise<PageAnswer> {
  const { principal } = page;
  return { redirect: principal.type === "operator" ? PATH : `${PATH}/${principal.organizationId}` };
}

async function showOrganizations(page: PageCall): Promise<PageAnswer> {
  return page.isOperator ? renderOrganizations(page, NO_PROBLEMS) : showStart(page);
}

async function createOrganization(page: PageCall): Promise<PageAnswer> {
  try {
    const { body } = await page.api(`POST ${LIST}`, { body: readBody(page.form, FIELDS) });
    return { redirect: `${PATH}/${(body as OrganizationView).id}` };
  } catch (thrown) {
    if (!(thrown instanceof AdminError) || thrown.status !== 400) throw thrown;
    return renderOrganizations(page, splitProblems(thrown));
  }
}

async function renderOrganizations(page: PageCall, problems: Problems): Promise<PageAnswer> {
  const { body } = await page.api(`GET ${LIST}`, { query: pageQueryOf(page) });
  const { data, next } = body as OrganizationPageView;
  return {
    status: problems.size === 0 ? 200 : 400,
    markup: (
      <Layout page={page} title="Organizations">
        <ProblemSummary problems={problems} fields={Object.keys(FIELDS)} />
        {data.length === 0 ? (
          <p class="card empty">There is no organization yet. Create the first one below.</p>
        ) : (
          <OrganizationTable organizations={data} />
        )}
        <Older page={page} next={next} />
        <CreationForm page={page} problems={problems} />
      </Layout>
    ),
  };
}

function OrganizationTable({ organizations }: { organizations: readonly OrganizationView[] }) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="Organizations">
      <table>
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">state</th>
            <th scope="col" class="wide">
              spent this month
            </th>
            <th scope="col" class="number">
              hard cap
            </th>
          </tr>
        </thead>
        <tbody>
          {organizations.map((organization) => (
            <tr>
              <th scope="row">
                <a href={`${PATH}/${organization.id}`}>{organization.name}</a>
                <span class="below code">{organization.id}</span>
              </th>
              <td>
                <span class={`state ${organization.suspended ? "off" : "good"}`}>
                  {organization.suspended ? "suspended" : "active"}
                </span>
              </td>
              <td class="wide">
                <SpendBar
                  spentMicrocents={organization.spent_microcents}
                  hardCapCents={organization.hard_cap_cents}
                  budgetCents={organization.budget_cents}
                  currency={organization.currency}
                />
                <span class="below">{formatMoney(organization.spent_microcents, organization.currency)}</span>
              </td>
              <td class="number">{formatLimit(organization.hard_cap_cents, organization.currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CreationForm({ page, problems }: { page: PageCall; problems: Problems }) {
  const { form } = page;
  return (
    <section class="card" aria-labelledby="create">
      <h2 id="create">Create an organization</h2>
      <Form page={page} action={PATH}>
        <Field name="name" label="Name" value={form.text("name")} problems={problems} required />
        <Field
          name="currency"
          label="Currency"
          value={form.has("currency") ? form.text("currency") : "USD"}
          problems={problems}
          hint="ISO 4217. It cannot be changed once there is spend."
          required
        />
        <Field
          name="hard_cap_cents"
          label="Monthly hard cap"
          value={form.text("hard_cap_cents")}
          problems={problems}
          inputmode="decimal"
          hint="Empty: no cap."
        />
        <Field
          name="budget_cents"
          label="Monthly budget"
          value={form.text("budget_cents")}
          problems={problems}
          inputmode="decimal"
          hint="Empty: no budget."
        />
        <button type="submit">Create the organization</button>
      </Form>
    </section>
  );
}

export const organizationPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/", run: showStart },
  { method: "GET", path: PATH, run: showOrganizations },
  { method: "POST", path: PATH, run: createOrganization },
];
