/**
 * Requests that call themselves gRPC. Envoy makes every reply of its own, and of ext_authz and ext_proc, a gRPC one
 * then: status 200, an empty body, the error in `grpc-message`; a client of our API would take each refusal for a success.
 * Nothing here is gRPC, so such requests have a route of their own that refuses them, and a filter, on that route alone,
 * which takes the reply out of its gRPC form again.
 */
import { GRPC_REFUSAL_FILTER } from "../names.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

/** By its row among the local replies it is the client's `unsupported_media_type`. */
export const GRPC_REFUSAL_STATUS = 415;

const LUA = "envoy.extensions.filters.http.lua.v3";
const RESTORE_REPLY = `function envoy_on_response(handle)
  local headers = handle:headers()
  local body = headers:get("grpc-message") or ""
  headers:remove("grpc-message")
  headers:remove("grpc-status")
  headers:replace(":status", "${GRPC_REFUSAL_STATUS}")
  headers:replace("content-type", "application/json")
  handle:body(true):setBytes(body)
end
`;

/** The first of `http_filters`. It does nothing but on the route below. */
export function createGrpcRefusalFilter(): EnvoyNode {
  return {
    "#": "For requests with a content-type of gRPC, by what their route sets for it: see there.",
    name: GRPC_REFUSAL_FILTER,
    typed_config: typed(`${LUA}.Lua`),
  };
}

/** `match` of their route. */
export const GRPC_REQUESTS: EnvoyNode = {
  prefix: "/",
  headers: [oneLine({ name: "content-type", string_match: { prefix: "application/grpc" } })],
};

/** `typed_per_filter_config` of their route. */
export function createReplyRestorer(): EnvoyNode {
  return {
    [GRPC_REFUSAL_FILTER]: typed(`${LUA}.LuaPerRoute`, { source_code: { inline_string: RESTORE_REPLY } }),
  };
}
