/**
 * Routes. Envoy answers public paths by exact path and method; everything else goes through ext_authz and
 * ext_proc. Therefore the last route matches every path: a request without a route would skip ext_authz.
 */
import { listServedEndpoints } from "../../shared/contract/endpoints.ts";
import { REMAINING_HEADER } from "../../shared/contract/header-names.ts";
import { CONTENT_LENGTH_FILTER, PROCESSING_FILTER, UPSTREAM_HEADER } from "../names.ts";
import { createUnpausedBody } from "./filters.ts";
import { type FrontPage, formatFrontPage, formatFrontPagePolicy } from "./front-page.ts";
import { createReplyRestorer, GRPC_REQUESTS } from "./grpc-requests.ts";
import { formatSeconds, type ResolvedOptions } from "./render-options.ts";
import { type EnvoyNode, type EnvoyValue, oneLine, typed } from "./yaml-document.ts";

const HEALTH_BODY = JSON.stringify({ status: "ok" });

const PROBE_METHODS = "GET|HEAD";

/** Returns the `route_config` of the HTTP connection manager. @param page Addresses that `GET /` returns. */
export function createRouteConfig(options: ResolvedOptions, page: FrontPage): EnvoyNode {
  const service = JSON.stringify({
    object: "service",
    name: "inference-gateway",
    documentation: page.documentation,
    endpoints: listServedEndpoints(),
  });
  return {
    name: "gateway",
    virtual_hosts: [
      {
        name: "all",
        domains: oneLine(["*"]),
        ...createCorsPolicy(options.corsAllowOrigins),
        routes: [
          createGrpcRoute(),
          createTwoHostsRoute(),
          createPublicRoute("/healthz", "The process answers: for liveness probes.", HEALTH_BODY),
          createFrontPageRoute(page),
          createPublicRoute("/", "SDKs and command lines probe these without a key.", service),
          createPublicRoute("/api/hello", null, service),
          createReadinessRoute(),
          createConnectRoute(),
          createLastRoute(options),
        ],
      },
    ],
  };
}

function createGrpcRoute(): EnvoyNode {
  return {
    "#":
      "Envoy writes its reply to such a request in gRPC's form, status 200 and an empty body: the filter puts it back " +
      "into ours. The sidecar's Check answers it, as an error that counts for the key's bucket.",
    match: GRPC_REQUESTS,
    direct_response: { status: 503 },
    typed_per_filter_config: {
      ...createReplyRestorer(),
      ...disableFilters("ext_proc", "content_length"),
    },
  };
}

function createTwoHostsRoute(): EnvoyNode {
  return {
    "#": "Two Host headers, which Envoy joins by a comma: 400 (RFC 9112, section 3.2).",
    match: {
      prefix: "/",
      headers: [oneLine({ name: ":authority", string_match: { contains: "," } })],
    },
    direct_response: { status: 400 },
    typed_per_filter_config: disableAll(),
  };
}

/** Other methods of a public path reach the last route, where the sidecar answers 405. */
function createPublicRoute(
  path: string,
  comment: string | null,
  body: string,
  mediaType = "application/json",
) {
  return {
    ...(comment === null ? {} : { "#": comment }),
    match: matchProbe(path),
    direct_response: { status: 200, body: oneLine({ inline_string: body }) },
    response_headers_to_add: [
      createResponseHeader("content-type", mediaType),
      createResponseHeader(REMAINING_HEADER, "0"),
      createResponseHeader("x-request-id", "%REQ(X-REQUEST-ID)%"),
      createResponseHeader("request-id", "%REQ(X-REQUEST-ID)%"),
    ],
    typed_per_filter_config: disableAll(),
  } satisfies EnvoyNode;
}

function createFrontPageRoute(page: FrontPage): EnvoyNode {
  const match = matchProbe("/");
  const isBrowser = { name: "accept", string_match: oneLine({ contains: "text/html" }) };
  const { response_headers_to_add: headers, ...route } = createPublicRoute(
    "/",
    "People who open the base URL in a browser.",
    formatFrontPage(page),
    "text/html; charset=utf-8",
  );
  return {
    ...route,
    match: { ...match, headers: [...match.headers, isBrowser] },
    response_headers_to_add: [
      ...headers,
      createResponseHeader("content-security-policy", formatFrontPagePolicy(page)),
      createResponseHeader("vary", "accept"),
    ],
  };
}

function createReadinessRoute(): EnvoyNode {
  return {
    "#":
      "Readiness is the state of the path that requests take: the sidecar's Check answers it as a refusal with status " +
      "200 or 503. What it lets through by mistake is not ready.",
    match: matchProbe("/readyz"),
    direct_response: { status: 503 },
    typed_per_filter_config: disableFilters("ext_proc", "content_length"),
  };
}

function createLastRoute(options: ResolvedOptions): EnvoyNode {
  const idle = formatSeconds(options.timeouts.streamIdleSeconds);
  return {
    "#":
      "Every other path, so that ext_authz runs on every path. Where to is chosen by ext_proc, which then has the route " +
      "looked up again; a request that it gives no upstream finds no cluster and gets a 500. Clients cannot set the " +
      "header: it is removed before routing.",
    match: { prefix: "/" },
    route: {
      cluster_header: UPSTREAM_HEADER,
      "#auto_host_rewrite": "The upstream's own name as Host, not the gateway's.",
      auto_host_rewrite: true,
      "#timeout":
        "No limit on an answer as a whole: streams last as long as they last. No retry_policy either: the one there " +
        "may be is an upstream's own, in its cluster, and sends nothing twice.",
      timeout: "0s",
      idle_timeout: idle,
    },
    typed_per_filter_config: createUnpausedBody(),
  };
}

function createConnectRoute(): EnvoyNode {
  return {
    "#": "A prefix does not match CONNECT, and where no route matches, ext_authz is passed over: 403 here.",
    match: { connect_matcher: oneLine({}) },
    direct_response: { status: 403 },
    typed_per_filter_config: disableAll(),
  };
}

function matchProbe(path: string) {
  return {
    path,
    headers: [{ name: ":method", string_match: oneLine({ safe_regex: { regex: PROBE_METHODS } }) }],
  };
}

function createResponseHeader(key: string, value: string): EnvoyNode {
  return { header: oneLine({ key, value }), append_action: "OVERWRITE_IF_EXISTS_OR_ADD" };
}

/**
 * Returns the `typed_per_filter_config` of a route or virtual host that disables all filters of the gateway.
 * Needed for routes that Envoy answers itself: they require no key, and an enabled filter would buffer
 * anything that anyone sends.
 */
export function disableAll(): EnvoyNode {
  return disableFilters("ext_authz", "ext_proc", "content_length");
}

/** Name of each filter and its per-route message. */
const PER_ROUTE = {
  ext_authz: ["envoy.filters.http.ext_authz", "ext_authz.v3.ExtAuthzPerRoute"],
  ext_proc: [PROCESSING_FILTER, "ext_proc.v3.ExtProcPerRoute"],
  content_length: [CONTENT_LENGTH_FILTER, "buffer.v3.BufferPerRoute"],
} as const;

/** Returns the `typed_per_filter_config` of a route that disables these filters of the gateway. */
function disableFilters(...filters: readonly (keyof typeof PER_ROUTE)[]): EnvoyNode {
  const off = filters.map((filter): [string, EnvoyValue] => {
    const [name, message] = PER_ROUTE[filter];
    return [name, oneLine(typed(`envoy.extensions.filters.http.${message}`, { disabled: true }))];
  });
  return Object.fromEntries(off);
}

/** Preflight requests carry no key: the filter answers them before ext_authz. */
function createCorsPolicy(origins: readonly string[]): EnvoyNode {
  if (origins.length === 0) return {};
  const matchers = origins.map((origin) =>
    oneLine(origin === "*" ? { safe_regex: { regex: ".*" } } : { exact: origin }),
  );
  return {
    typed_per_filter_config: {
      "envoy.filters.http.cors": typed("envoy.extensions.filters.http.cors.v3.CorsPolicy", {
        allow_origin_string_match: matchers,
        allow_methods: "GET, POST",
        "#allow_headers": "The star stands for every header but authorization.",
        allow_headers: "authorization, *",
        expose_headers: `${REMAINING_HEADER}, retry-after, x-request-id, request-id, x-should-retry`,
        max_age: "600",
      }),
    },
  };
}
