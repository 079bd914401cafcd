/** What a model costs beside the three prices that everybody asks for, in words. */
import type { CatalogView } from "./views.ts";
import { formatCount, spellOut } from "../format.ts";

type Price = CatalogView["data"][number]["prices"][string];
type Rates = Omit<Price["tiers"][number], "above_prompt_tokens">;
type Schedule = Rates & Pick<Price, "tiers">;
type DatedPrice = Omit<Price, "announced">;

/** Each is shown where it differs from what it falls back to. */
const OTHERS = [
  ["cache_write", "input"],
  ["cache_write_1h", "cache_write"],
  ["input_audio", "input"],
  ["reasoning", "output"],
  ["output_audio", "output"],
] as const satisfies readonly (readonly [keyof Rates, keyof Rates])[];
const NO_FEE = "0.00";

/**
 * "cache write 3.75", "above 200,000 prompt tokens: input 5.00, …", "batch: input 1.00, …", "from 2027-01-01: …": a line
 * for each part of the price in force that is not its plain input, cached input and output, then for what is announced.
 */
export function describeOtherPrices(price: Price): string[] {
  return [
    ...describeOthers(price),
    ...describeTiers(price, ""),
    ...describeServiceTiers(price, ""),
    ...price.announced.flatMap((later) => {
      const day = `from ${later.from ?? ""}`;
      return [
        `${day}: ${describeAll(later)}`,
        ...describeTiers(later, `${day}, `),
        ...describeServiceTiers(later, `${day}, `),
      ];
    }),
  ];
}

function describeServiceTiers(price: DatedPrice, prefix: string): string[] {
  return Object.entries(price.service_tiers).flatMap(([name, schedule]) => [
    `${prefix}${name}: ${describeAll(schedule)}`,
    ...describeTiers(schedule, `${prefix}${name}, `),
  ]);
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
  const others = OTHERS.filter(([name, fallback]) => rates[name] !== rates[fallback]);
  const words = others.map(([name]) => `${spellOut(name)} ${rates[name]}`);
  return rates.request === NO_FEE ? words : [...words, `${rates.request} a request`];
}
