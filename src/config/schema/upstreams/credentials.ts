/** What an upstream asks of its callers: secrets, each in a header of its own. Only Envoy reads them. */
import * as z from "zod";

import { Secret, VARIABLE_NAME_FORM, type SecretSource } from "../../secret.ts";
import { described, mapping, ofType, SECRET_EXPECTATION, text, VARIABLE_EXPECTATION } from "../fields.ts";

/** One header with a secret in it. */
export interface UpstreamCredential {
  readonly secret: Secret;
  /** In lower case. */
  readonly header: string;
  /** Stands before the secret; with its space, where it has one. */
  readonly prefix: string;
}

const DEFAULT_HEADER = "authorization";
const BEARER = "Bearer ";

/** The connection's own, and those by which Envoy and the sidecar say where a request goes and what it carries. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  // RFC 9110, section 7.6.1.
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "accept",
  "accept-encoding",
  "expect",
  "user-agent",
  "via",
  "forwarded",
  "x-request-id",
  "traceparent",
  "tracestate",
]);
const RESERVED_PREFIXES: readonly string[] = ["x-igw-", "x-envoy-", "x-forwarded-"];

const HEADER = text(
  "the name of a header: letters, digits and `-`",
  /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,126}[A-Za-z0-9])?$/,
).refine((name) => !isReserved(name.toLowerCase()), {
  error: (issue) =>
    `\`${String(issue.input)}\` belongs to the connection, to the request or to the gateway: no credential goes there`,
});
const PREFIX_EXPECTATION = 'expected a text of at most 128 printable ASCII characters, or ""';
const PREFIX = ofType(z.string({ error: PREFIX_EXPECTATION }), "string")
  .max(128, { error: PREFIX_EXPECTATION })
  .regex(/^[\x20-\x7e]*$/, { error: PREFIX_EXPECTATION });

function isReserved(name: string): boolean {
  return RESERVED_HEADERS.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** What was found is never shown: it may be the secret itself. */
function createFields() {
  const fields = {
    env: described(
      z
        .string({ error: SECRET_EXPECTATION })
        .regex(VARIABLE_NAME_FORM, { error: VARIABLE_EXPECTATION })
        .optional(),
      "Environment variable with the secret. Either this or `file`; only Envoy gets to read it.",
      { type: "name of a variable" },
    ),
    file: described(
      z.string({ error: SECRET_EXPECTATION }).min(1, { error: SECRET_EXPECTATION }).optional(),
      "File with the secret; a renewed one counts without a restart.",
      { type: "path" },
    ),
    header: described(
      HEADER.default(DEFAULT_HEADER),
      "Header that carries it, as `api-key` for Azure. A client's own header of that name never passes.",
      { type: "header name" },
    ),
    prefix: described(PREFIX.optional(), "What stands before the secret in the header, with its space.", {
      default: "`Bearer ` in `authorization`, nothing in other headers",
    }),
  };
  return mapping(fields, SECRET_EXPECTATION);
}

/** A secret and the header that carries it; `{env: KEY}` is `Authorization: Bearer`. */
export function createCredentialSchema(source: SecretSource) {
  return createFields().transform(({ env, file, header: written, prefix }, context): UpstreamCredential => {
    // A reference that is misspelled is told already.
    if (context.issues.length > 0) return z.NEVER;
    const reference = env !== undefined ? { env } : file !== undefined ? { file } : null;
    if (reference === null || (env !== undefined && file !== undefined)) {
      const message = reference === null ? SECRET_EXPECTATION : "has either `env` or `file`, found both";
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    const header = written.toLowerCase();
    const usual = header === DEFAULT_HEADER ? BEARER : "";
    return { secret: new Secret(reference, source), header, prefix: prefix ?? usual };
  });
}
