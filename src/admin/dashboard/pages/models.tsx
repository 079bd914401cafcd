/** @jsxImportSource hono/jsx */
/** *Models*: the catalog, with the prices in the organization's currency. */
import { formatCount, spellOut } from "../format.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { Layout } from "../parts/layout.tsx";
import type { CatalogView } from "../views.ts";

type Model = CatalogView["data"][number];

async function showModels(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api("GET /api/catalog");
  const { data } = body as CatalogView;
  const { currency } = page.organization;
  return {
    markup: (
      <Layout page={page} title="Models" section="models">
        <p>Prices are in {currency} per million tokens.</p>
        <div class="scroll" tabindex={0} role="region" aria-label="Models">
          <table>
            <thead>
              <tr>
                <th scope="col">model</th>
                <th scope="col" class="number">
                  input
                </th>
                <th scope="col" class="number">
                  cached input
                </th>
                <th scope="col" class="number">
                  output
                </th>
                <th scope="col" class="number">
                  context
                </th>
                <th scope="col">can</th>
              </tr>
            </thead>
            <tbody>
              {data.map((model) => (
                <ModelRow model={model} currency={currency} />
              ))}
            </tbody>
          </table>
        </div>
      </Layout>
    ),
  };
}

function ModelRow({ model, currency }: { model: Model; currency: string }) {
  const prices = model.prices[currency];
  return (
    <tr>
      <th scope="row">
        <span class="code">{model.id}</span>
        <span class="below">
          {model.display_name === model.id ? "" : model.display_name}
          {model.replaced_by === null ? "" : ` retired, use ${model.replaced_by}`}
          {prices === undefined ? ` no price in ${currency}: cannot be used here` : ""}
        </span>
      </th>
      <td class="number">{prices?.input ?? "none"}</td>
      <td class="number">{prices?.cached_input ?? "none"}</td>
      <td class="number">{prices?.output ?? "none"}</td>
      <td class="number">
        {formatCount(model.context_window)}
        <span class="below">answers up to {formatCount(model.max_output_tokens)}</span>
      </td>
      <td>{model.capabilities.map(spellOut).join(", ")}</td>
    </tr>
  );
}

export const modelPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/models", runInOrganization: showModels },
];
