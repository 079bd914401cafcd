import type { CrossProblem } from "./check-names.ts";
import type { FieldPath } from "../config-error.ts";
import { Secret, VARIABLE_NAME_FORM, type SecretReference, type SecretSource } from "../secret.ts";

/**
 * Secrets that must exist when the configuration is read: "all"; "own", without the upstreams' credentials,
 * which only Envoy reads; "upstreams", when writing these for Envoy; or "none", when only inspecting.
 */
export type RequiredSecrets = "all" | "own" | "upstreams" | "none";

/**
 * Finds references to missing secrets. Only secrets are mappings of just `env` or `file`, or of these with a
 * credential's header, so this needs no schema and also works on a file with other mistakes.
 */
export function checkSecrets(file: unknown, source: SecretSource, required: RequiredSecrets): CrossProblem[] {
  if (required === "none") return [];
  return findReferences(file, []).flatMap(({ path, reference }) => {
    // Keys of an identity provider are a file but no secret, and only Envoy reads it, possibly on another
    // host.
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

/** Fields that may accompany the reference in an upstream's credential. */
const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set(["header", "prefix"]);

function findReferences(value: unknown, path: FieldPath): FoundReference[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findReferences(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  const entries: [string, unknown][] = Object.entries(value);
  const [only, ...rest] = entries.filter(([key]) => !CREDENTIAL_FIELDS.has(key));
  if (only !== undefined && rest.length === 0 && typeof only[1] === "string" && only[1] !== "") {
    // A malformed name may be the secret itself and is not repeated; the schema rejects it.
    if (only[0] === "env" && VARIABLE_NAME_FORM.test(only[1])) return [{ path, reference: { env: only[1] } }];
    if (only[0] === "file") return [{ path, reference: { file: only[1] } }];
  }
  return entries.flatMap(([key, member]) => findReferences(member, [...path, key]));
}
