import type { CrossProblem } from "./check-names.ts";
import type { FieldPath } from "../config-error.ts";
import { Secret, VARIABLE_NAME_FORM, type SecretReference, type SecretSource } from "../secret.ts";

/**
 * Which secrets must be there when the configuration is read: every one; every one but the upstreams' credentials,
 * which only Envoy reads; these alone, where they are written for it; or none, where the configuration is only looked at.
 */
export type RequiredSecrets = "all" | "own" | "upstreams" | "none";

/**
 * Secrets that are referred to and are not there. In this file nothing but a secret is a mapping of `env` or `file`
 * alone or with a credential's header, so they are found without the schema, in a file that is wrong elsewhere too.
 */
export function checkSecrets(file: unknown, source: SecretSource, required: RequiredSecrets): CrossProblem[] {
  if (required === "none") return [];
  return findReferences(file, []).flatMap(({ path, reference }) => {
    // Keys of an identity provider are a file, and no secret; Envoy reads it, perhaps elsewhere.
    if (path[0] === "jwt") return [];
    const isOfUpstream = path[0] === "upstreams";
    if ((required === "own" && isOfUpstream) || (required === "upstreams" && !isOfUpstream)) return [];
    const message = new Secret(reference, source).explainAbsence();
    return message === null ? [] : [{ path, message }];
  });
}

interface FoundReference {
  readonly path: FieldPath;
  readonly reference: SecretReference;
}

/** What may stand beside the reference, where it is an upstream's credential. */
const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set(["header", "prefix"]);

function findReferences(value: unknown, path: FieldPath): FoundReference[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findReferences(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  const entries: [string, unknown][] = Object.entries(value);
  const [only, ...others] = entries.filter(([key]) => !CREDENTIAL_FIELDS.has(key));
  if (only !== undefined && others.length === 0 && typeof only[1] === "string" && only[1] !== "") {
    // What has not the form of a name may be the secret itself and is not repeated; the schema refuses it.
    if (only[0] === "env" && VARIABLE_NAME_FORM.test(only[1])) return [{ path, reference: { env: only[1] } }];
    if (only[0] === "file") return [{ path, reference: { file: only[1] } }];
  }
  return entries.flatMap(([key, member]) => findReferences(member, [...path, key]));
}
