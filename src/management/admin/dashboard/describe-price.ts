/** What a model costs beside the three prices that everybody asks for, in words. */
import { listOtherRates } from "../../../data-path/pricing/rates.ts";
import type { CatalogView } from "./views.ts";
import { formatCount, spellOut } from "../format.ts";

type Price = CatalogView["data"][number]["prices"][string];
type Rates = Omit<Price["tiers"][number], "above_prompt_tokens">;
type Schedule = Rates & Pick<Price, "tiers">;
type DatedPrice = Omit<Price, "announced">;

/**
 * "cache write 3.75", "above 200,000 prompt tokens: input 5.00, …", "batch: input 1.00, …", "from 2027-01-01: …": a line
 * for each part of the price in force that is not its plain input, cached input and output, then for what is announced.
 */
export function describeOtherPrices(price: Price): string[] {
  return [
    ...describeOthers(price),
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
  return [...plain, ...describeOthers(rates)].join(", ");
}

function describeOthers(rates: Rates): string[] {
  return listOtherRates(rates).map((name) =>
    name === "request" ? `${rates.request} a request` : `${spellOut(name)} ${rates[name]}`,
  );
}
