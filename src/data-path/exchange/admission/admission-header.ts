/**
 * Codec of an admission on its way from ext_authz to ext_proc, as one request header. Clients cannot forge the
 * header: Envoy removes what they send under its prefix before routing, and ext_authz overwrites it.
 *
 * Every request has one admission header, and it passes Envoy twice. Fields by position, separated by bars, take half
 * the bytes of JSON and less time. The last two fields are the flags, and the rarely used values as JSON.
 */
import { compileExpression } from "../../../shared/text/compile-expression.ts";
import type { Caller } from "../../auth/key-directory.ts";
import type { Admission } from "../../limits/admission.ts";

/** Everything but printable ASCII, and the separators `%`, `,` and `|`. */
const ESCAPED = /[^\x20-\x24\x26-\x2b\x2d-\x7b\x7d\x7e]/;
const EACH_ESCAPED = new RegExp(ESCAPED, "g");
const NON_ASCII = /[^\x20-\x7e]/g;
const PRESENT = "=";
/** Start of the header of a request whose admission is awaited. No request id starts with it. */
const AWAITED = "awaited ";
const NO_ITEMS: readonly never[] = [];
const NOTHING = {};

/** Codecs of the fields, as source code from which both directions are compiled. */
const CODECS = {
  /** Text with nothing to escape. */
  plain: { format: (value) => value, parse: (field) => field },
  text: { format: (value) => `escape(${value})`, parse: (field) => `unescape(${field})` },
  /** Text that is never empty; undefined: none. */
  optional: {
    format: (value) => `(${value} === undefined ? "" : escape(${value}))`,
    parse: (field) => `(${field} === "" ? undefined : unescape(${field}))`,
  },
  number: { format: (value) => value, parse: (field) => `Number(${field})` },
  nullable: {
    format: (value) => `(${value} ?? "")`,
    parse: (field) => `(${field} === "" ? null : Number(${field}))`,
  },
  texts: { format: (value) => `formatTexts(${value})`, parse: (field) => `parseTexts(${field})` },
} as const satisfies Readonly<Record<string, Record<"format" | "parse", (source: string) => string>>>;

/** Rarely used values are omitted if they equal this value, which is source code. */
const NONE = { rare: "null", rareText: "undefined", rareList: "NO_ITEMS" };

type Codec = keyof typeof CODECS | keyof typeof NONE | "flag";
type Group = "identity" | "caller" | "limits" | "rate";
type CodecsOf<Facts> = { readonly [Name in keyof Facts]: Codec };

/** All fields. The order is that of the header, and a flag's is that of its bit: both directions are compiled from it. */
const FIELDS = {
  identity: {
    requestId: "plain",
    route: "text",
    month: "plain",
    day: "plain",
    owners: "optional",
    tags: "optional",
    session: "rareText",
  },
  endpoint: "plain",
  protocol: "plain",
  caller: {
    organizationId: "plain",
    organizationName: "text",
    keyId: "plain",
    keyName: "text",
    currency: "plain",
    models: "texts",
    modelNames: "rare",
    tagsEndUser: "flag",
  },
  limits: {
    isStrict: "flag",
    isEntered: "flag",
    shrinksOnCap: "flag",
    areSessionsCapped: "flag",
    concurrencyLimit: "nullable",
    sessionBudgetCents: "rare",
    takenTokens: "rare",
  },
  rate: {
    limit: "number",
    capacity: "number",
    remaining: "number",
    resetMs: "number",
    timeMs: "number",
    tokens: "rareList",
  },
  /** Only endpoints that ext_authz serves have a resource. */
  resource: "rare",
  headroom: "rareList",
} as const satisfies CodecsOf<Omit<Admission, Group>> & {
  readonly [Name in Group]: CodecsOf<Admission[Name]>;
};

const CODEC = compileCodec();

/** Compiles encoder and decoder in one pass over the table, so that they cannot differ. */
function compileCodec() {
  const written = {
    placed: [] as string[],
    flags: [] as string[],
    rare: [] as string[],
    ifNone: [] as string[],
  };
  const addField = (name: string, value: string, codec: Codec): string => {
    if (codec === "flag") {
      const bit = 2 ** written.flags.length;
      written.flags.push(`(${value} ? ${bit} : 0)`);
      return `(flags & ${bit}) !== 0`;
    }
    if (isPlaced(codec)) {
      const { format, parse } = CODECS[codec];
      return parse(`fields[${written.placed.push(format(value)) - 1}]`);
    }
    const isNone = codec === "rareList" ? `${value}.length === 0` : `${value} === ${NONE[codec]}`;
    written.ifNone.push(isNone);
    written.rare.push(`${name}: ${isNone} ? undefined : ${value}`);
    return `rare.${name} ?? ${NONE[codec]}`;
  };
  const addFields = (fields: object, path: string): string => {
    const read = Object.entries(fields).map(([name, codec]: [string, Codec | object]) => {
      const value = `${path}.${name}`;
      return `${name}: ${typeof codec === "object" ? addFields(codec, value) : addField(name, value, codec)}`;
    });
    return `({ ${read.join(", ")} })`;
  };
  const read = addFields(FIELDS, "admission");
  const { placed, flags, rare, ifNone } = written;
  const json = `${ifNone.join(" && ")} ? "" : formatJson({ ${rare.join(", ")} })`;
  const fields = [...placed, `${flags.join(" | ")} || ""`, json];
  const helpers = { escape, unescape, formatTexts, parseTexts, formatJson, NO_ITEMS };
  const functions = `({ format: (admission) => [${fields.join(", ")}].join("|"), parse: (fields, flags, rare) => ${read} })`;
  const codec = compileExpression(Object.keys(helpers), functions)(...(Object.values(helpers) as never[]));
  return {
    ...(codec as {
      format: (admission: Admission) => string;
      parse: (fields: readonly string[], flags: number, rare: unknown) => Admission;
    }),
    fieldCount: fields.length,
  };
}

function isPlaced(codec: Codec): codec is keyof typeof CODECS {
  return codec in CODECS;
}

/** Encodes an admission as one line of ASCII. */
export const formatAdmissionHeader = CODEC.format;

/**
 * Decodes an admission that this gateway's ext_authz wrote.
 * @throws SyntaxError if the header is malformed, which only a broken filter chain can cause.
 */
export function parseAdmissionHeader(header: string): Admission {
  const fields = header.split("|");
  const last = CODEC.fieldCount - 1;
  if (fields.length <= last) throw new SyntaxError("the admission does not have the fields of one");
  // JSON may contain bars.
  const json = fields.slice(last).join("|");
  return CODEC.parse(fields, Number(fields[last - 1]), json === "" ? NOTHING : JSON.parse(json));
}

/** A request that ext_authz let pass before its admission was decided. */
export interface AwaitedRequest {
  readonly requestId: string;
  /** Together with the route's restrictions, everything that another worker needs to admit the request again. */
  readonly caller: Caller;
  readonly extensions: Readonly<Record<string, string>>;
}

/** Formats the header that replaces an admission while it is still being decided (deferred-admissions.ts). */
export function formatAwaitedHeader({ requestId, caller, extensions }: AwaitedRequest): string {
  return `${AWAITED}${requestId} ${formatJson({ caller, extensions })}`;
}

/** Returns the request's id, or null if the header has another form. */
export function readAwaitedId(header: string): string | null {
  if (!header.startsWith(AWAITED)) return null;
  return header.slice(AWAITED.length, header.indexOf(" ", AWAITED.length));
}

/** @throws SyntaxError if the header is malformed or has another form. */
export function parseAwaitedHeader(header: string): AwaitedRequest {
  const requestId = readAwaitedId(header) ?? "";
  const rest = JSON.parse(header.slice(AWAITED.length + requestId.length)) as Omit<
    AwaitedRequest,
    "requestId"
  >;
  return { requestId, ...rest };
}

function formatTexts(texts: readonly string[] | null): string {
  return texts === null ? "" : PRESENT + texts.map(escape).join(",");
}

function parseTexts(field: string): string[] | null {
  if (field === "") return null;
  return field === PRESENT ? [] : field.slice(PRESENT.length).split(",").map(unescape);
}

function formatJson(values: object): string {
  return JSON.stringify(values).replace(NON_ASCII, (unit) => `\\u${hexOf(unit)}`);
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
