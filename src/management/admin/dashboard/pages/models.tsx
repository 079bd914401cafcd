/** *Models*: the catalog with its aliases, and all prices in the organization's currency. */
import { dayAt } from "../../../../shared/time/calendar.ts";
import { addDays } from "../../../../shared/time/day-range.ts";
import { formatCount, formatExactTime, spellOut } from "../../format.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { HealthTable } from "../parts/health.tsx";
import { UseLink } from "../parts/inline.tsx";
import { Layout, Section } from "../parts/layout.tsx";
import { RowTable, type RowTableColumns } from "../parts/table.tsx";
import { formatCachedShare, readUsage } from "../usage-range.ts";
import type { CatalogView, UsageRowView, UsageView } from "../views.ts";
import { listOtherRates } from "../../../../data-path/pricing/rates.ts";

type Model = CatalogView["data"][number];

async function showModels(page: OrganizationPageCall): Promise<PageAnswer> {
  const { currency } = page.organization;
  const [{ body }, usage, health] = await Promise.all([
    page.api("GET /api/catalog"),
    readUsage(page, "model"),
    readHealth(page),
  ]);
  return showPage(
    <Layout page={page} title="Models" section="models">
      <p>
        Current prices, in {currency} per million tokens. Other prices are exceptions and announced changes.
        The cached share is the part of this month's input tokens that came from the model servers' prompt
        caches.
      </p>
      <RowTable label="Models" class="stack" columns={columnsOf(page, usage.data)} rows={body.data} />
      <Health page={page} health={health} />
    </Layout>,
  );
}

/** Days that health is shown of. */
const HEALTH_DAYS = 7;

/** Reads the requests once for both. */
function readHealth(page: OrganizationPageCall): Promise<UsageView> {
  const today = dayAt(page.nowMs).name;
  const range = { from: addDays(today, 1 - HEALTH_DAYS), to: today };
  return readUsage(page, "model,upstream", { ...range, health: "true" });
}

function Health({ page: { base }, health }: { page: OrganizationPageCall; health: UsageView }) {
  const { complete_from: completeFrom, data } = health;
  const since = completeFrom === null ? `the last ${HEALTH_DAYS} days` : formatExactTime(completeFrom);
  const linkTo = (by: string) => <a href={`${base}/usage?metric=latency&by=${by}`}>by {by}</a>;
  return (
    <Section id="health" title="Health by model and upstream">
      <p class="quiet">
        {completeFrom === null ? "Requests of" : "Requests since"} {since}. Success leaves out requests whose
        client left. Over time: {linkTo("model")}, {linkTo("upstream")}
      </p>
      <HealthTable
        label="Health by model and upstream, table"
        subject="model"
        rows={data.flatMap(({ model = null, upstream = null, health: figures }) => {
          if (model === null || upstream === null || figures === undefined) return [];
          const query = new URLSearchParams({ model, upstream });
          return [
            {
              name: `${model} at ${upstream}`,
              link: `${base}/requests?${query.toString()}`,
              health: figures,
            },
          ];
        })}
      />
    </Section>
  );
}

function columnsOf(
  { base, organization: { currency } }: OrganizationPageCall,
  usage: readonly UsageRowView[],
): RowTableColumns<Model> {
  const price = (label: string, rate: "input" | "cached_input" | "output") => ({
    label,
    kind: "number" as const,
    cell: ({ prices }: Model) => prices[currency]?.[rate] ?? "none",
  });
  return [
    {
      label: "model",
      cell: (model) => (
        <>
          <span class="code">
            <UseLink base={base} filter="model" value={model.id} />
          </span>
          <span class="below">{describeModel(model, currency)}</span>
        </>
      ),
    },
    price("input", "input"),
    price("cached input", "cached_input"),
    price("output", "output"),
    {
      label: "cached share",
      kind: "number",
      cell: ({ id }) => formatCachedShare(usage.filter(({ model }) => model === id)),
    },
    { label: "other prices", cell: ({ prices }) => <OtherPrices price={prices[currency]} /> },
    {
      label: "context",
      kind: "number",
      cell: ({ context_window: window, max_output_tokens: most }) => (
        <>
          {formatCount(window)}
          <span class="below">responses up to {formatCount(most)}</span>
        </>
      ),
    },
    { label: "can", cell: ({ capabilities }) => capabilities.map(spellOut).join(", ") },
  ];
}

function describeModel(model: Model, currency: string): string {
  return [
    model.display_name === model.id ? "" : model.display_name,
    model.aliases.length === 0 ? "" : ` also ${model.aliases.join(", ")}`,
    model.replaced_by === null ? "" : ` retired, use ${model.replaced_by}`,
    model.prices[currency] === undefined ? ` no price in ${currency}: cannot be used here` : "",
  ].join("");
}

function OtherPrices({ price }: { price: Model["prices"][string] | undefined }) {
  const lines = price === undefined ? [] : describeOtherPrices(price);
  if (lines.length === 0) return null;
  return (
    <ul class="changes">
      {lines.map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  );
}

export const modelPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/models", runInOrganization: showModels },
];

type Price = CatalogView["data"][number]["prices"][string];
type Rates = Omit<Price["tiers"][number], "above_prompt_tokens">;
type Schedule = Rates & Pick<Price, "tiers">;
type DatedPrice = Omit<Price, "announced">;

/**
 * Returns "cache write 3.75", "above 200,000 prompt tokens: input 5.00, …", "batch: input 1.00, …", "from
 * 2027-01-01: …": one line for each part of the current price except plain input, cached input and output,
 * then for announced prices.
 */
function describeOtherPrices(price: Price): string[] {
  return [
    ...describeOtherRates(price),
    ...describeParts(price, ""),
    ...price.announced.flatMap((later) => {
      const day = `from ${later.from ?? ""}`;
      return [`${day}: ${describeAll(later)}`, ...describeParts(later, `${day}, `)];
    }),
  ];
}

function describeParts(price: DatedPrice, prefix: string): string[] {
  return [
    ...describeTiers(price, prefix),
    ...describeServiceTiers(price, prefix),
    ...describeServerTools(price, prefix),
  ];
}

function describeServiceTiers(price: DatedPrice, prefix: string): string[] {
  return Object.entries(price.service_tiers).flatMap(([name, schedule]) => [
    `${prefix}${name}: ${describeAll(schedule)}`,
    ...describeTiers(schedule, `${prefix}${name}, `),
  ]);
}

function describeServerTools(price: DatedPrice, prefix: string): string[] {
  return Object.entries(price.server_tools).map(([name, amount]) =>
    amount === null
      ? `${prefix}${spellOut(name)} without a price`
      : `${prefix}${spellOut(name)} ${amount} per thousand uses`,
  );
}

function describeTiers({ tiers }: Schedule, prefix: string): string[] {
  return tiers.map(
    (tier) => `${prefix}above ${formatCount(tier.above_prompt_tokens)} prompt tokens: ${describeAll(tier)}`,
  );
}

function describeAll(rates: Rates): string {
  const plain = [`input ${rates.input}`, `cached input ${rates.cached_input}`, `output ${rates.output}`];
  return [...plain, ...describeOtherRates(rates)].join(", ");
}

function describeOtherRates(rates: Rates): string[] {
  return listOtherRates(rates).map((name) =>
    name === "request" ? `${rates.request} a request` : `${spellOut(name)} ${rates[name]}`,
  );
}
