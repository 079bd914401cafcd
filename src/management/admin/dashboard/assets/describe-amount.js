// Runs on the server, and in browsers while an amount is typed.

/** What the server takes, and nothing else: a comma is a point to some people and nothing to others. */
const AMOUNT = /^(\d{1,12})(\.\d\d)?$/;
const SIGNED_AMOUNT = /^[+-]?(\d{1,8})(\.\d{1,8})?$/;

/**
 * What is understood of an amount, to stand beside its field: "= 1,050.00 USD"; the currency alone while there is none.
 *
 * @param {string} text
 * @param {string} currency "" where it is not known yet.
 * @param {boolean} isSigned Of a correction, which has a sign and up to eight decimals.
 * @returns {string}
 */
export function describeAmount(text, currency, isSigned) {
  const typed = text.trim();
  if (typed === "") return currency;
  const match = (isSigned ? SIGNED_AMOUNT : AMOUNT).exec(typed);
  if (match === null) return "not an amount: write 50 or 50.00";
  const [, whole = "", fraction = ""] = match;
  const sign = typed.startsWith("-") ? "-" : "";
  return `= ${sign}${BigInt(whole).toLocaleString("en-US")}${fraction || ".00"} ${currency}`.trim();
}
