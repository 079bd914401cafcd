/** @jsxImportSource hono/jsx */
/** *Models*: the catalog with its aliases, and all parts of the prices in the organization's currency. */
import { formatCount, spellOut } from "../../format.ts";
import { describeOtherPrices } from "../describe-price.ts";
import type { OrganizationPageCall, PageAnswer, PageRoute } from "../page.ts";
import { Layout } from "../parts/layout.tsx";
import { Cell, Table } from "../parts/table.tsx";
import type { CatalogView } from "../views.ts";

const COLUMNS = [
  "model",
  { label: "input", kind: "number" },
  { label: "cached input", kind: "number" },
  { label: "output", kind: "number" },
  "other prices",
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
        <p>
          Prices in force, in {currency} per million tokens. Under other prices stands what differs from them,
          and what is announced.
        </p>
        <Table label="Models" class="stack" columns={COLUMNS}>
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
  const others = prices === undefined ? [] : describeOtherPrices(prices);
  return (
    <tr>
      <th scope="row">
        <span class="code">{model.id}</span>
        <span class="below">
          {model.display_name === model.id ? "" : model.display_name}
          {model.aliases.length === 0 ? "" : ` also ${model.aliases.join(", ")}`}
          {model.replaced_by === null ? "" : ` retired, use ${model.replaced_by}`}
          {prices === undefined ? ` no price in ${currency}: cannot be used here` : ""}
        </span>
      </th>
      <Cell label="input" kind="number">
        {prices?.input ?? "none"}
      </Cell>
      <Cell label="cached input" kind="number">
        {prices?.cached_input ?? "none"}
      </Cell>
      <Cell label="output" kind="number">
        {prices?.output ?? "none"}
      </Cell>
      <Cell label="other prices">
        {others.length === 0 ? null : (
          <ul class="changes">
            {others.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        )}
      </Cell>
      <Cell label="context" kind="number">
        {formatCount(model.context_window)}
        <span class="below">answers up to {formatCount(model.max_output_tokens)}</span>
      </Cell>
      <Cell label="can">{model.capabilities.map(spellOut).join(", ")}</Cell>
    </tr>
  );
}

export const modelPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/models", runInOrganization: showModels },
];
