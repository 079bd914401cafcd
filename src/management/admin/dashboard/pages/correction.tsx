/** *Correct spend*: the operator adds an amount to this month's spend. */
import { randomBytes } from "node:crypto";
import { AdminError } from "../../admin-error.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { resolveOwners } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showForm, submit } from "../page.ts";
import { CORRECTION_FIELDS, CorrectionForm, readCorrection } from "../parts/correction-form.tsx";
import { ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { nameKeys } from "../read-lists.ts";

const PATH = "/organizations/:organization/usage/corrections";

async function showCorrection(
  page: OrganizationPageCall,
  problems: Problems = NO_PROBLEMS,
): Promise<PageAnswer> {
  const [keys, catalog] = await Promise.all([nameKeys(page), page.api("GET /api/catalog")]);
  const { currency } = page.organization;
  const priced = catalog.body.data.filter((model) => model.prices[currency] !== undefined);
  return showForm(
    <Layout page={page} title="Correct this month's spend" section="usage">
      <ProblemSummary problems={problems} fields={CORRECTION_FIELDS} />
      <CorrectionForm
        page={page}
        problems={problems}
        keys={keys}
        models={priced.map((model) => model.id)}
        id={page.form.text("id") || randomBytes(12).toString("hex")}
      />
    </Layout>,
    problems,
  );
}

function correctSpend(page: OrganizationPageCall): Promise<PageAnswer> {
  return submit({
    send: async () => {
      const idempotencyKey = page.form.text("id");
      await page
        .api("POST /api/organizations/{organization}/spend-corrections", {
          body: await resolveOwners(page.api, readCorrection(page.form)),
          idempotencyKey,
        })
        .catch(refuseReusedForm);
      return { redirect: `${page.base}/usage?done=corrected` };
    },
    refused: (problems) => showCorrection(page, problems),
  });
}

/** A form that was sent, gone back to, changed and sent again. */
function refuseReusedForm(thrown: unknown): never {
  if (!(thrown instanceof AdminError) || thrown.code !== "idempotency_key_reused") throw thrown;
  const message =
    "This form was already sent with other values, which were counted. Open the page again for another correction.";
  throw new AdminError("invalid_parameter", { message });
}

export const correctionRoutes: readonly PageRoute[] = [
  { method: "GET", path: PATH, access: "operator", runInOrganization: (page) => showCorrection(page) },
  { method: "POST", path: PATH, access: "operator", runInOrganization: correctSpend },
];
