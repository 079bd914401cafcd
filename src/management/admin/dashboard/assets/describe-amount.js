// Runs on the server, and in browsers while the user types an amount.

/** Exactly the form that the server accepts: a comma is ambiguous. */
const AMOUNT = /^(\d{1,12})(\.\d\d)?$/;
const SIGNED_AMOUNT = /^[+-]?(\d{1,8})(\.\d{1,8})?$/;

/**
 * Describes how an amount is understood, for display next to its field: "= 1,050.00 USD"; only the currency
 * if empty.
 *
 * @param {string} text
 * @param {string} currency "" if unknown.
 * @param {boolean} isSigned For a correction, which has a sign and up to eight decimals.
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
