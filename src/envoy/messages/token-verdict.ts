/** Reads Envoy's verification of a request's token from the metadata of ext_authz. */
import { FAILED_PREFIX, JWT_NAMESPACE, TOKEN_HEADER_PREFIX, VERIFIED_PREFIX } from "../names.ts";
import type { IncomingRequest } from "../../data-path/exchange/admission/request-head.ts";
import type { Message } from "./messages.ts";

type TokenVerdict = NonNullable<IncomingRequest["token"]>;

/** Returns null if Envoy has verified nothing, as for every request with an API key. */
export function readTokenVerdict(metadata: Message<"Metadata"> | undefined): TokenVerdict | null {
  const fields = metadata?.filter_metadata?.[JWT_NAMESPACE]?.fields;
  if (fields === undefined) return null;
  const verified: TokenVerdict["verified"][number][] = [];
  const failed: TokenVerdict["failed"][number][] = [];
  for (const [name, { structValue }] of Object.entries(fields)) {
    if (structValue === undefined) continue;
    const result = convertStruct(structValue);
    if (name.startsWith(VERIFIED_PREFIX)) {
      const provider = name.slice(VERIFIED_PREFIX.length);
      const header = fields[TOKEN_HEADER_PREFIX + provider]?.structValue?.fields ?? {};
      verified.push({ provider, claims: result, isCritical: Object.hasOwn(header, "crit") });
    }
    if (name.startsWith(FAILED_PREFIX)) {
      const { code, message } = result;
      failed.push({
        code: typeof code === "number" ? code : null,
        text: typeof message === "string" ? message : "",
      });
    }
  }
  return { verified, failed };
}

/** Has no prototype: claims may have any names. */
function convertStruct({ fields = {} }: Message<"Struct">): Record<string, unknown> {
  const converted = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) converted[name] = convertValue(value);
  return converted;
}

function convertValue(value: Message<"Value">): unknown {
  if (value.structValue !== undefined) return convertStruct(value.structValue);
  if (value.listValue !== undefined) return (value.listValue.values ?? []).map(convertValue);
  return value.stringValue ?? value.numberValue ?? value.boolValue ?? null;
}
