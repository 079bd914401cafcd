import { isJsonObject } from "../../text/json-object.ts";
import type { FieldPath } from "../config-error.ts";
import type { CrossProblem } from "./check-names.ts";
import { itemsOf, valueAt } from "./raw-values.ts";

const MESSAGE = "required, but missing; expected a price per million tokens as a decimal in quotes";

/**
 * Checks that models that generate have a price of output tokens wherever they have prices.
 * @param prices Raw `prices` of a model.
 */
export function checkOutputPrices(prices: unknown, path: FieldPath): CrossProblem[] {
  return membersOf(prices).flatMap(([currency, given]) =>
    Array.isArray(given)
      ? given.flatMap((entry: unknown, index) => checkPrice(entry, [...path, currency, index]))
      : checkPrice(given, [...path, currency]),
  );
}

function checkPrice(price: unknown, path: FieldPath): CrossProblem[] {
  const serviceTiers = membersOf(valueAt(price, "service_tiers"));
  return [
    ...checkSchedule(price, path),
    ...serviceTiers.flatMap(([name, own]) => checkSchedule(own, [...path, "service_tiers", name])),
  ];
}

function checkSchedule(schedule: unknown, path: FieldPath): CrossProblem[] {
  const tiers = itemsOf(valueAt(schedule, "tiers"));
  return [
    ...checkRates(schedule, path),
    ...tiers.flatMap((tier, index) => checkRates(tier, [...path, "tiers", index])),
  ];
}

function checkRates(rates: unknown, path: FieldPath): CrossProblem[] {
  const isMissing = isJsonObject(rates) && rates["output"] === undefined;
  return isMissing ? [{ path: [...path, "output"], message: MESSAGE }] : [];
}

function membersOf(value: unknown): [string, unknown][] {
  return isJsonObject(value) ? Object.entries(value) : [];
}
