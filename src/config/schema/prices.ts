import { z } from "zod";

import { parsePrice } from "../../money.ts";
import { explainCurrency } from "./currencies.ts";
import { described, mapping } from "./fields.ts";

const price = () =>
  z
    .string({ error: "expected a price per million tokens as a decimal in quotes" })
    .refine((value) => parsePrice(value) !== null, {
      error:
        'expected a price per million tokens such as "2.50": at most seven digits before the point and eight behind it',
    });

/** `catalog[].prices`: per million tokens, one block for each currency that organizations are billed in. */
export function createPricesSchema() {
  const prices = mapping({
    input: described(price(), {
      description: "Prompt tokens.",
      unit: "per million tokens",
      type: "decimal string",
    }),
    cached_input: described(price().optional(), {
      description: "Prompt tokens that the upstream served from its cache.",
      unit: "per million tokens",
      type: "decimal string",
      default: "`input`",
    }),
    output: described(price(), {
      description: "Generated tokens, reasoning included.",
      unit: "per million tokens",
      type: "decimal string",
    }),
  }).transform((given) => ({ ...given, cached_input: given.cached_input ?? given.input }));
  const currency = z.string().superRefine((code, context) => {
    const message = explainCurrency(code);
    if (message !== null) context.addIssue({ code: "custom", message });
  });
  const error = 'expected one block of prices per currency, as in `USD: {input: "2.50", output: "10.00"}`';
  return z.record(currency, prices, { error }).refine((given) => Object.keys(given).length > 0, { error });
}
