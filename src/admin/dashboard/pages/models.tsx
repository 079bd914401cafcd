/** @jsxImportSource hono/jsx */
/** *Models*: the catalog, with the prices in the organization's currency. */
import { formatCount, spellOut } from "../../format.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { Layout } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import type { CatalogView } from "../views.ts";

const COLUMNS = [
  "model",
  { label: "input", kind: "number" },
  { label: "cached input", kind: "number" },
  { label: "output", kind: "number" },
  { label: "context", kind: "number" },
  "can",
] as const;

type Model = CatalogView["data"][number];

async function showModels(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api("GET /api/catalog");
  const { data } = body as CatalogView;
  const { currency } = page.organization;
  return {
    markup: (
      <Layout page={page} title="Models" section="models">
        <p>Prices are in {currency} per million tokens.</p>
        <Table label="Models" columns={COLUMNS}>
          {data.map((model) => (
            <ModelRow model={model} currency={currency} />
          ))}
        </Table>
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
