/**
 * Requests with a gRPC content type. For these Envoy sends all its own replies, and those of ext_authz and
 * ext_proc, in gRPC's form: status 200, an empty body, the error in `grpc-message`. Clients of our API would
 * take each error for a success. We serve no gRPC, so such requests have a separate route where the sidecar's
 * Check answers all of them, and a filter on that route restores the reply's form.
 */
import { GRPC_TYPE } from "../../shared/contract/grpc-type.ts";
import { GRPC_REPLY_FILTER } from "../names.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

const LUA = "envoy.extensions.filters.http.lua.v3";
/**
 * The sidecar puts its HTTP status into `grpc-status`; values below 100 are gRPC's own and mean that it did
 * not answer.
 */
const RESTORE_REPLY = `function envoy_on_response(handle)
  local headers = handle:headers()
  local status = headers:get("grpc-status")
  if status == nil then return end
  local body = (headers:get("grpc-message") or ""):gsub("%%(%x%x)", function(code)
    return string.char(tonumber(code, 16))
  end)
  headers:remove("grpc-message")
  headers:remove("grpc-status")
  headers:replace(":status", tonumber(status) < 100 and "503" or status)
  headers:replace("content-type", "application/json")
  handle:body(true):setBytes(body)
end
`;

/** Returns the first of the `http_filters`, which only acts on the route below. */
export function createGrpcReplyFilter(): EnvoyNode {
  return {
    "#": "For requests with a content-type of gRPC, by what their route sets for it: see there.",
    name: GRPC_REPLY_FILTER,
    typed_config: typed(`${LUA}.Lua`),
  };
}

/** `match` of that route. */
export const GRPC_REQUESTS: EnvoyNode = {
  prefix: "/",
  headers: [oneLine({ name: "content-type", string_match: { safe_regex: { regex: GRPC_TYPE } } })],
};

/** Returns the `typed_per_filter_config` of that route. */
export function createReplyRestorer(): EnvoyNode {
  return {
    [GRPC_REPLY_FILTER]: typed(`${LUA}.LuaPerRoute`, { source_code: { inline_string: RESTORE_REPLY } }),
  };
}
