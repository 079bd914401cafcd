/**
 * An admission on its way from ext_authz to ext_proc, as one request header. Clients cannot forge it: Envoy removes what
 * they send under its prefix before routing, and ext_authz overwrites it.
 *
 * Every request has one, made and read once, and it passes Envoy twice, so it is fields in a fixed order with a bar between
 * them: half the bytes of JSON, made in less time. What few requests have is JSON in the last one.
 */
import type { Admission, EndpointName } from "../limits/admission.ts";
import type { ProtocolName } from "../translation/client-protocol.ts";

const FIELDS = 18;
/** Everything but printable ASCII, and what means something here: `%`, `,` and `|`. */
const ESCAPED = /[^\x20-\x24\x26-\x2b\x2d-\x7b\x7d\x7e]/;
const EACH_ESCAPED = new RegExp(ESCAPED, "g");
const NON_ASCII = /[^\x20-\x7e]/g;
const PRESENT = "=";
/** Which hold it needs before it goes upstream: one of its worst case, none, or (empty) one of its record. */
const STRICT = "1";
const ENTERED = "e";

/** One line of ASCII. */
export function formatAdmissionHeader(admission: Admission): string {
  const {
    requestId,
    endpoint,
    protocol,
    route,
    resource,
    organizationId,
    organizationName,
    keyId,
    keyName,
    currency,
    strictCaps,
    isEntered,
    concurrencyLimit,
    models,
    month,
    day,
    rate,
    tags = "",
    ...others
  } = admission;
  return [
    requestId,
    endpoint,
    protocol,
    escape(route),
    resource === null ? "" : PRESENT + escape(resource),
    organizationId,
    escape(organizationName),
    keyId,
    escape(keyName),
    currency,
    formatHold(strictCaps, isEntered),
    concurrencyLimit ?? "",
    models === null ? "" : PRESENT + models.map(escape).join(","),
    month,
    day,
    `${rate.limit},${rate.capacity},${rate.remaining},${rate.resetMs},${rate.timeMs}`,
    escape(tags),
    formatOthers(others),
  ].join("|");
}

/**
 * The admission that this gateway's own ext_authz wrote.
 * @throws SyntaxError when it is none, which only a broken filter chain can cause.
 */
export function parseAdmissionHeader(header: string): Admission {
  const fields = header.split("|");
  if (fields.length < FIELDS) throw new SyntaxError("the admission does not have the fields of one");
  const textAt = (index: number): string => fields[index] ?? "";
  const rate = textAt(15).split(",");
  const allowed = textAt(12);
  // JSON may have bars of its own.
  const others = fields.length === FIELDS ? textAt(17) : fields.slice(17).join("|");
  const admission: Admission = {
    requestId: textAt(0),
    // Written by formatAdmissionHeader of the same deployment, behind a header that clients cannot set.
    endpoint: textAt(1) as EndpointName,
    protocol: textAt(2) as ProtocolName,
    route: unescape(textAt(3)),
    resource: textAt(4) === "" ? null : unescape(textAt(4).slice(1)),
    organizationId: textAt(5),
    organizationName: unescape(textAt(6)),
    keyId: textAt(7),
    keyName: unescape(textAt(8)),
    currency: textAt(9),
    strictCaps: textAt(10) === STRICT,
    isEntered: textAt(10) === ENTERED,
    models: allowed === "" ? null : parseModels(allowed.slice(1)),
    month: textAt(13),
    day: textAt(14),
    rate: {
      limit: Number(rate[0]),
      capacity: Number(rate[1]),
      remaining: Number(rate[2]),
      resetMs: Number(rate[3]),
      timeMs: Number(rate[4]),
    },
  };
  const [concurrent, tags] = [textAt(11), textAt(16)];
  if (concurrent === "" && tags === "" && others === "") return admission;
  return {
    ...admission,
    ...(concurrent === "" ? {} : { concurrencyLimit: Number(concurrent) }),
    ...(tags === "" ? {} : { tags: unescape(tags) }),
    ...(others === "" ? {} : (JSON.parse(others) as object)),
  };
}

function formatHold(strictCaps: boolean, isEntered: boolean): string {
  if (strictCaps) return STRICT;
  return isEntered ? ENTERED : "";
}

function parseModels(text: string): string[] {
  return text === "" ? [] : text.split(",").map(unescape);
}

function formatOthers(others: object): string {
  for (const _name in others) {
    return JSON.stringify(others).replace(NON_ASCII, (unit) => `\\u${hexOf(unit)}`);
  }
  return "";
}

/** Each unit of UTF-16 as four digits, so that a text that is not well-formed comes back too. */
function escape(text: string): string {
  return ESCAPED.test(text) ? text.replace(EACH_ESCAPED, (unit) => `%${hexOf(unit)}`) : text;
}

function unescape(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/%([0-9a-f]{4})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function hexOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}
