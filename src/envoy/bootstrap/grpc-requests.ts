/**
 * Requests that call themselves gRPC. Envoy writes every reply of its own, and of ext_authz and ext_proc, in gRPC's form
 * then: status 200, an empty body, the error in `grpc-message`; a client of our API would take each error for a success.
 * Nothing here is gRPC, so such requests have a route of their own on which the sidecar's Check answers them all, and a
 * filter, on that route only, gives the reply its own form again.
 */
import { GRPC_TYPE } from "../../shared/contract/grpc-type.ts";
import { GRPC_REPLY_FILTER } from "../names.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

const LUA = "envoy.extensions.filters.http.lua.v3";
/** The sidecar puts its HTTP status into `grpc-status`; one of gRPC's own, below 100, means that it gave no answer. */
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

/** The first of `http_filters`. It does nothing but on the route below. */
export function createGrpcReplyFilter(): EnvoyNode {
  return {
    "#": "For requests with a content-type of gRPC, by what their route sets for it: see there.",
    name: GRPC_REPLY_FILTER,
    typed_config: typed(`${LUA}.Lua`),
  };
}

/** `match` of their route. */
export const GRPC_REQUESTS: EnvoyNode = {
  prefix: "/",
  headers: [oneLine({ name: "content-type", string_match: { safe_regex: { regex: GRPC_TYPE } } })],
};

/** `typed_per_filter_config` of their route. */
export function createReplyRestorer(): EnvoyNode {
  return {
    [GRPC_REPLY_FILTER]: typed(`${LUA}.LuaPerRoute`, { source_code: { inline_string: RESTORE_REPLY } }),
  };
}
