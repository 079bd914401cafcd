/** Checks of routes: only the last route reaches an upstream, and no path bypasses ext_authz. */
import { RESTRICTION_NAMES } from "../../data-path/exchange/admission/route-restrictions.ts";
import { FILTERS } from "./filter-types.ts";
import { GRPC_REPLY_FILTER, PROCESSING_FILTER } from "../names.ts";
import { type BootstrapFinding, findAt, findUnless } from "./finding.ts";
import { listOwnFilters, type Rendered } from "./rendered.ts";
import {
  checkSettings,
  existsAsRendered,
  formatFlow,
  isSameAsRendered,
  type SettingRule,
} from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

const RETRY_RULE: SettingRule = {
  check: "retries",
  path: ["retry_policy"],
  holds: existsAsRendered,
  why: "a request that an upstream has begun could be sent, and charged, twice.",
};

const LAST_ROUTE_RULES: readonly SettingRule[] = [
  {
    check: "last_route",
    path: ["cluster_header"],
    why: "requests could reach an upstream that the sidecar didn't choose.",
  },
  {
    check: "timeouts",
    path: ["timeout"],
    holds: (view, rendered) => view.seconds === rendered.seconds,
    why: "Envoy's default ends every response after 15 seconds.",
  },
  RETRY_RULE,
];

/** Other modes work, but cost a round trip per request or a stream per rejection. */
const BODY_MODE_RULE: SettingRule = {
  check: "body_mode",
  path: ["typed_per_filter_config", PROCESSING_FILTER],
  holds: isSameAsRendered,
  why: "the body wouldn't follow the request's headers, so each request would wait for the sidecar twice.",
  write: (rendered) =>
    `typed_per_filter_config: ${formatFlow({ [PROCESSING_FILTER]: rendered.at("typed_per_filter_config", PROCESSING_FILTER).value })}`,
};

const NOT_MATCH = new Set(["prefix"]);

/**
 * Checks a connection manager's routes; `models` are the clusters that only the sidecar may choose, including
 * its own.
 */
export function checkRoutes(
  manager: YamlView,
  rendered: Rendered,
  models: ReadonlySet<string>,
): BootstrapFinding[] {
  const config = manager.at("route_config");
  if (!config.exists) {
    return findAt(manager, {
      check: "last_route",
      level: "unchecked",
      message: "the routes come from elsewhere (RDS).",
      fix: "Check that every virtual host has `/` as its last route, and a route that matches CONNECT.",
    });
  }
  const right = rendered.manager.at("route_config");
  const lastRight = right.at("virtual_hosts", 0, "routes").items().at(-1) ?? right;
  const hosts = config.at("virtual_hosts").items();
  const domains = hosts.flatMap((host) => host.at("domains").items());
  const known = { models, otherFilters: listOtherFilters(manager), buffers: listBuffers(manager) };
  return [
    ...findUnless(
      domains.some(({ text }) => text === "*"),
      config.at("virtual_hosts"),
      {
        check: "last_route",
        message: "no virtual host accepts every domain: if none matches, Envoy ignores ext_authz.",
        fix: 'Give one virtual host `domains: ["*"]`.',
      },
    ),
    ...[config, ...hosts].flatMap((level) => checkSettings(level, right, [RETRY_RULE])),
    ...hosts.flatMap((host) => checkHost(host, lastRight, known)),
    ...hosts.flatMap((host) => [host, ...host.at("routes").items()].flatMap(checkRestrictions)),
  ];
}

interface Known {
  /** Clusters that only the sidecar may choose. */
  readonly models: ReadonlySet<string>;
  /** Names of all filters but ext_authz and the gateway's ext_proc; an endpoint picker's may be disabled. */
  readonly otherFilters: ReadonlySet<string>;
  /** Names of the filters that buffer whole bodies. */
  readonly buffers: readonly string[];
}

function listBuffers(manager: YamlView): string[] {
  const all = manager.at("http_filters").items();
  return all.filter(({ typeName }) => typeName === FILTERS.buffer).map((filter) => filter.at("name").text);
}

function listOtherFilters(manager: YamlView): Set<string> {
  const own = new Set(listOwnFilters(manager).map((filter) => filter.path));
  const all = manager.at("http_filters").items();
  return new Set(all.filter((filter) => !own.has(filter.path)).map((filter) => filter.at("name").text));
}

function checkHost(host: YamlView, lastRight: YamlView, known: Known): BootstrapFinding[] {
  const { models, otherFilters, buffers } = known;
  const routes = host.at("routes");
  const towardsModels = routes.items().filter((route) => !isOwnRoute(route, models));
  // A virtual host of the operator's services: requests that it does not match go nowhere.
  if (towardsModels.length === 0 && routes.exists) return [];
  return [
    ...checkGrpc(routes, otherFilters),
    ...checkLastRoute(routes, lastRight),
    ...checkConnect(routes),
    ...routes.items().flatMap((route) => checkOwnAnswer(route, buffers)),
    ...[host, ...towardsModels].flatMap((level) => checkBypass(level, otherFilters)),
  ];
}

/** Returns whether a route answers by itself, or leads to a service of the operator. */
function isOwnRoute(route: YamlView, models: ReadonlySet<string>): boolean {
  if (route.at("direct_response").exists || route.at("redirect").exists) return true;
  const cluster = route.at("route", "cluster").text;
  return cluster !== "" && !models.has(cluster);
}

function checkLastRoute(routes: YamlView, lastRight: YamlView): BootstrapFinding[] {
  const last = routes.items().at(-1);
  const match = last?.at("match");
  const takesAll = match?.at("prefix").text === "/" && match.entries().every(([name]) => NOT_MATCH.has(name));
  if (last === undefined || !takesAll) {
    return findAt(last ?? routes, {
      check: "last_route",
      message: "the last route doesn't accept every path: if no route matches, Envoy ignores ext_authz.",
      fix: 'End with `match: {prefix: "/"}` and no other condition.',
    });
  }
  return [
    ...checkSettings(last.at("route"), lastRight.at("route"), LAST_ROUTE_RULES),
    ...checkSettings(last, lastRight, [BODY_MODE_RULE]),
  ];
}

/**
 * Checks routes with direct responses: a buffer filter buffers the body of any request whatever its route,
 * and such routes require no key.
 */
function checkOwnAnswer(route: YamlView, buffers: readonly string[]): BootstrapFinding[] {
  if (!route.at("direct_response").exists && !route.at("redirect").exists) return [];
  const overrides = route.at("typed_per_filter_config");
  const enabled = buffers.filter((name) => overrides.at(name, "disabled").value !== true);
  return findUnless(enabled.length === 0, route, {
    check: "unread_bodies",
    message: "Envoy would keep bodies that no filter reads in memory for a minute, without counting them.",
    fix: `Turn ${enabled.map((name) => `\`${name}\``).join(" and ")} off for it (BufferPerRoute, \`disabled: true\`), as \`inference-gateway envoy render\` does.`,
  });
}

/** Checks that the route for gRPC requests has the filter of this name configured. */
function checkGrpc(routes: YamlView, otherFilters: ReadonlySet<string>): BootstrapFinding[] {
  const isRestored = routes
    .items()
    .some((route) => route.at("typed_per_filter_config", GRPC_REPLY_FILTER).exists);
  return findUnless(isRestored && otherFilters.has(GRPC_REPLY_FILTER), routes, {
    check: "grpc_requests",
    message:
      "nothing restores responses to requests with `content-type: application/grpc`: Envoy turns every error into status 200 with an empty body.",
    fix: `Copy the first route and the filter \`${GRPC_REPLY_FILTER}\` from \`inference-gateway envoy render\`.`,
  });
}

function checkConnect(routes: YamlView): BootstrapFinding[] {
  const connect = routes.items().find((route) => route.at("match", "connect_matcher").exists);
  return findUnless(connect?.at("direct_response").exists === true, connect ?? routes, {
    check: "connect_route",
    message: "no route rejects CONNECT, which no prefix matches, so Envoy ignores ext_authz.",
    fix: "Add a route `match: {connect_matcher: {}}` with `direct_response: {status: 403}` before the last one.",
  });
}

/**
 * Checks that nothing reaches a model without ext_authz or ext_proc: neither a route nor a virtual host may
 * disable them.
 */
function checkBypass(level: YamlView, otherFilters: ReadonlySet<string>): BootstrapFinding[] {
  const off = level
    .at("typed_per_filter_config")
    .entries()
    .filter(
      ([name, config]) =>
        !otherFilters.has(name) &&
        config.at("disabled").value === true &&
        /ext_authz|ext_proc/.test(config.at("@type").text),
    );
  return off.flatMap(([name, config]) =>
    findAt(config, {
      check: "bypass",
      message: `requests go to an upstream with ${name} disabled: without a key, or without a charge.`,
      fix: "Remove the override, or respond by `direct_response`.",
    }),
  );
}

/** Checks names of restrictions: a misspelled one restricts nothing, which would go unnoticed. */
function checkRestrictions(level: YamlView): BootstrapFinding[] {
  const names = level
    .at("typed_per_filter_config")
    .entries()
    .flatMap(([, config]) => config.at("check_settings", "context_extensions").entries());
  return names
    .filter(([name]) => name.startsWith("allow") && !RESTRICTION_NAMES.includes(name))
    .flatMap(([name, view]) =>
      findAt(view, {
        check: "route_restrictions",
        message: `\`${name}\` restricts nothing.`,
        fix: `The gateway knows ${RESTRICTION_NAMES.join(" and ")}.`,
      }),
    );
}
