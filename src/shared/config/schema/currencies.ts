import { formatSuggestion } from "./nearest.ts";

/**
 * ISO 4217 codes of current currencies whose minor unit has two digits. Money is counted in cents everywhere,
 * so a currency with another minor unit (JPY, KWD) cannot be a billing currency.
 */
export const CURRENCIES: ReadonlySet<string> = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE
   CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR
   KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB
   PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY
   TTD TWD TZS UAH USD UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`
    .split(/\s+/)
    .filter((code) => code !== ""),
);

const OTHER_MINOR_UNIT: ReadonlySet<string> = new Set(
  (
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF " +
    "BHD IQD JOD KWD LYD OMR TND CLF UYW"
  ).split(" "),
);

/** Returns why a text is not a billing currency, or null if it is one. */
export function explainCurrency(code: string): string | null {
  if (CURRENCIES.has(code)) return null;
  if (OTHER_MINOR_UNIT.has(code)) {
    return `${code} has no two-digit minor unit; only currencies that are counted in hundredths can be billed`;
  }
  const upper = code.toUpperCase();
  if (CURRENCIES.has(upper)) return `expected an ISO 4217 code in upper case: write \`${upper}\``;
  const suggestion = formatSuggestion(code, CURRENCIES);
  return `expected an ISO 4217 currency code with a two-digit minor unit, found "${code}"${suggestion}`;
}
