/** Credentials that an upstream requires: secrets, each in a header. Only Envoy reads them. */
import * as z from "zod";
import { isReservedHeader } from "../../../contract/header-names.ts";
import { headerName } from "./header-name.ts";
import { Secret, VARIABLE_NAME_FORM, type SecretSource } from "../../secret.ts";
import { described, mapping, ofType, SECRET_EXPECTATION, VARIABLE_EXPECTATION } from "../fields.ts";

/** Header with a secret. */
export interface UpstreamCredential {
  readonly secret: Secret;
  /** In lower case. */
  readonly header: string;
  /** Text before the secret, including its space. */
  readonly prefix: string;
}

const DEFAULT_HEADER = "authorization";
const BEARER = "Bearer ";

const HEADER = headerName().refine((name) => !isReservedHeader(name.toLowerCase()), {
  error: (issue) =>
    `\`${String(issue.input)}\` belongs to the connection, the request or the gateway: it can't carry a credential`,
});
const PREFIX_EXPECTATION = 'expected a text of at most 128 printable ASCII characters, or ""';
const PREFIX = ofType(z.string({ error: PREFIX_EXPECTATION }), "string")
  .max(128, { error: PREFIX_EXPECTATION })
  .regex(/^[\x20-\x7e]*$/, { error: PREFIX_EXPECTATION });

/** Never shows the found value: it may be the secret itself. */
function createFields() {
  const fields = {
    env: described(
      z
        .string({ error: SECRET_EXPECTATION })
        .regex(VARIABLE_NAME_FORM, { error: VARIABLE_EXPECTATION })
        .optional(),
      "Environment variable of Envoy with the secret; either this or `file`.",
      { type: "name of a variable" },
    ),
    file: described(
      z.string({ error: SECRET_EXPECTATION }).min(1, { error: SECRET_EXPECTATION }).optional(),
      "File with the secret, which Envoy reads.",
      { type: "path" },
    ),
    header: described(HEADER.default(DEFAULT_HEADER), "Its header (Azure: `api-key`).", {
      type: "header name",
    }),
    prefix: described(PREFIX.optional(), "Text before the secret, with its space.", {
      default: "`Bearer ` in `authorization`, otherwise none",
    }),
  };
  return mapping(fields, SECRET_EXPECTATION);
}

/** Secret and its header; `{env: KEY}` means `Authorization: Bearer`. */
export function createCredentialSchema(source: SecretSource) {
  return createFields().transform(({ env, file, header: written, prefix }, context): UpstreamCredential => {
    // A misspelled reference was reported already.
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
