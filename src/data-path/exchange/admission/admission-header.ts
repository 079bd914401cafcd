/**
 * Codec of an admission on its way from ext_authz to ext_proc, as one request header. Clients cannot forge the
 * header: Envoy removes what they send under its prefix before routing, and ext_authz overwrites it.
 *
 * Every request has one admission header, and it passes Envoy twice. Fields in a fixed order, separated by bars, take
 * half the bytes of JSON and less time. Rarely used fields are JSON in the last field.
 */
import type { EndpointName } from "../../../shared/contract/endpoints.ts";
import type { Admission } from "../../limits/admission.ts";
import type { RateState } from "../../limits/rate-headers.ts";
import type { ProtocolName } from "../../translation/client-protocol.ts";

/** Everything but printable ASCII, and the separators `%`, `,` and `|`. */
const ESCAPED = /[^\x20-\x24\x26-\x2b\x2d-\x7b\x7d\x7e]/;
const EACH_ESCAPED = new RegExp(ESCAPED, "g");
const NON_ASCII = /[^\x20-\x7e]/g;
const PRESENT = "=";
/** Prefix that no request id has. */
const AWAITED = "awaited ";
/** Requirement before routing: reserve the worst case, nothing, or (empty) create a record. */
const STRICT = "1";
const ENTERED = "e";

/** Rarely used fields, omitted when absent. */
interface OptionalFields {
  readonly owners?: string | undefined;
  readonly takenTokens?: NonNullable<Admission["takenTokens"]> | undefined;
  /** Tokens of the admission's rate. */
  readonly tokens?: RateState["tokens"] | undefined;
  readonly keepsEndUser?: true | undefined;
  readonly shrinksOnCap?: true | undefined;
  readonly headroom?: Admission["headroom"] | undefined;
  readonly modelNames?: NonNullable<Admission["modelNames"]> | undefined;
  readonly session?: string | undefined;
  readonly sessionBudgetCents?: number | undefined;
  readonly areSessionsCapped?: true | undefined;
}

/** Encodes an admission as one line of ASCII. */
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
    isStrict,
    isEntered,
    concurrencyLimit,
    models,
    month,
    day,
    rate,
    tags,
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
    formatRequirement(isStrict, isEntered),
    concurrencyLimit ?? "",
    models === null ? "" : PRESENT + models.map(escape).join(","),
    month,
    day,
    `${rate.limit},${rate.capacity},${rate.remaining},${rate.resetMs},${rate.timeMs}`,
    escape(tags),
    formatOthers(admission),
  ].join("|");
}

/**
 * Decodes an admission that this gateway's ext_authz wrote.
 * @throws SyntaxError if the header is malformed, which only a broken filter chain can cause.
 */
export function parseAdmissionHeader(header: string): Admission {
  const fields = new Fields(header);
  const requestId = fields.next();
  // Written by formatAdmissionHeader of the same deployment, in a header that clients cannot set.
  const endpoint = fields.next() as EndpointName;
  const protocol = fields.next() as ProtocolName;
  const route = unescape(fields.next());
  const resource = fields.next();
  const organizationId = fields.next();
  const organizationName = unescape(fields.next());
  const keyId = fields.next();
  const keyName = unescape(fields.next());
  const currency = fields.next();
  const requirement = fields.next();
  const concurrencyLimit = fields.next();
  const models = fields.next();
  const month = fields.next();
  const day = fields.next();
  const limit = Number(fields.next(","));
  const capacity = Number(fields.next(","));
  const remaining = Number(fields.next(","));
  const resetMs = Number(fields.next(","));
  const timeMs = Number(fields.next());
  const tags = unescape(fields.next());
  const { tokens, ...others } = parseOthers(fields.rest());
  return {
    requestId,
    endpoint,
    protocol,
    route,
    resource: resource === "" ? null : unescape(resource.slice(1)),
    organizationId,
    organizationName,
    keyId,
    keyName,
    currency,
    isStrict: requirement === STRICT,
    isEntered: requirement === ENTERED,
    concurrencyLimit: concurrencyLimit === "" ? null : Number(concurrencyLimit),
    models: models === "" ? null : parseModels(models.slice(1)),
    month,
    day,
    tags,
    rate: { limit, capacity, remaining, resetMs, timeMs, tokens },
    ...others,
  };
}

/** A request that ext_authz let pass before its admission was decided. */
export interface AwaitedRequest {
  readonly requestId: string;
  readonly protocol: ProtocolName;
  /** Estimated state of the key's bucket, for the response if the admission was lost. */
  readonly rate: RateState | null;
}

/** Takes the place of an admission that is still being decided (deferred-admissions.ts). */
export function formatAwaitedHeader({ requestId, protocol, rate }: AwaitedRequest): string {
  const head = `${AWAITED}${requestId} ${protocol}`;
  if (rate === null) return head;
  return `${head} ${rate.limit} ${rate.capacity} ${rate.remaining} ${rate.resetMs} ${rate.timeMs}`;
}

/** Returns null if the header has another form. */
export function parseAwaitedHeader(header: string): AwaitedRequest | null {
  if (!header.startsWith(AWAITED)) return null;
  const [requestId = "", protocol, ...figures] = header.slice(AWAITED.length).split(" ");
  const [limit, capacity, remaining, resetMs, timeMs] = figures.map(Number);
  const rate = { limit, capacity, remaining, resetMs, timeMs, tokens: NO_OTHERS.tokens } as RateState;
  return { requestId, protocol: protocol as ProtocolName, rate: figures.length === 0 ? null : rate };
}

/** Reads one field after the other. */
class Fields {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(separator = "|"): string {
    const end = this.#text.indexOf(separator, this.#at);
    if (end === -1) throw new SyntaxError("the admission does not have the fields of one");
    const field = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return field;
  }

  /** The last field: JSON, which may contain bars. */
  rest(): string {
    return this.#text.slice(this.#at);
  }
}

function formatRequirement(isStrict: boolean, isEntered: boolean): string {
  if (isStrict) return STRICT;
  return isEntered ? ENTERED : "";
}

function parseModels(text: string): string[] {
  return text === "" ? [] : text.split(",").map(unescape);
}

function formatOthers(admission: Admission): string {
  const { owners, keepsEndUser, shrinksOnCap, headroom, modelNames, takenTokens, rate } = admission;
  const { session, sessionBudgetCents, areSessionsCapped } = admission;
  const hasTokens = takenTokens !== null || rate.tokens.length > 0;
  const hasSettings = keepsEndUser || shrinksOnCap || headroom.length > 0 || modelNames !== null;
  const hasSession = session !== null || sessionBudgetCents !== null || areSessionsCapped;
  if (owners === "" && !hasSettings && !hasTokens && !hasSession) return "";
  const others: OptionalFields = {
    owners: owners === "" ? undefined : owners,
    takenTokens: takenTokens ?? undefined,
    tokens: hasTokens ? rate.tokens : undefined,
    keepsEndUser: keepsEndUser ? true : undefined,
    shrinksOnCap: shrinksOnCap ? true : undefined,
    headroom: headroom.length > 0 ? headroom : undefined,
    modelNames: modelNames ?? undefined,
    session: session ?? undefined,
    sessionBudgetCents: sessionBudgetCents ?? undefined,
    areSessionsCapped: areSessionsCapped ? true : undefined,
  };
  return JSON.stringify(others).replace(NON_ASCII, (unit) => `\\u${hexOf(unit)}`);
}

type ParsedOthers = Pick<Admission, Exclude<keyof OptionalFields, "tokens">> & Pick<RateState, "tokens">;

const NO_OTHERS: ParsedOthers = {
  owners: "",
  keepsEndUser: false,
  shrinksOnCap: false,
  headroom: [],
  modelNames: null,
  takenTokens: null,
  tokens: [],
  session: null,
  sessionBudgetCents: null,
  areSessionsCapped: false,
};

function parseOthers(text: string): ParsedOthers {
  if (text === "") return NO_OTHERS;
  return { ...NO_OTHERS, ...(JSON.parse(text) as Partial<ParsedOthers>) };
}

/** Writes each UTF-16 unit as four digits, so that ill-formed text survives the round trip. */
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
