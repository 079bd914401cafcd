import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { unsupportedField } from "../../json/field-error.ts";

/** Fields that only Anthropic supports and whose loss would change the meaning of the request. */
const REFUSED = [
  { field: "container", reason: "containers are not supported by this model" },
  { field: "mcp_servers", reason: "MCP servers are not supported by this model" },
  { field: "thread", reason: "threads are not supported by this model" },
  { field: "compaction", reason: "a summary on demand is not supported by this model" },
  { field: "inference_geo", reason: "a region cannot be chosen for this model" },
] as const;

/** @throws GatewayError 400 naming the first such field that is neither null nor empty. */
export function refuseUnsupported(body: JsonObject): void {
  for (const { field, reason } of REFUSED) {
    const value = body[field];
    const isEmpty =
      value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
    if (!isEmpty) throw unsupportedField(field, reason);
  }
}
