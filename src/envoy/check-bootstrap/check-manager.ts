/** Checks of the connection manager: paths, headers, timeouts and local replies. */
import { LOCAL_REPLIES } from "../bootstrap/local-replies.ts";
import { END_REPORTS_LOG, SIDECAR_CLUSTER, WORKER_HEADER } from "../names.ts";
import { type BootstrapFinding, findAt, findUnless } from "./finding.ts";
import type { Rendered } from "./rendered.ts";
import { checkSettings, isAtLeastSeconds, isRendered, type SettingRule } from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

/** Consequence if one of the three settings is missing by which ext_proc calls the worker that ext_authz names. */
export const WORKER_CHOICE_WHY =
  "ext_proc couldn't call the worker that has the admission: requests would wait for Redis twice, or take two tokens.";
const ID_WHY = "clients could choose the request id, or rejections would lose their id.";

const RULES: readonly SettingRule[] = [
  {
    check: "normalize_path",
    path: ["normalize_path"],
    why: "a route and the sidecar could read `/healthz/../v1/models` as two different paths.",
  },
  {
    check: "merge_slashes",
    path: ["merge_slashes"],
    why: "a route and the sidecar could read `//v1/models` as two different paths.",
  },
  {
    check: "escaped_slashes",
    path: ["path_with_escaped_slashes_action"],
    why: "the slash in a model's id can arrive as %2F, which must reach the sidecar unchanged.",
  },
  {
    check: "request_id",
    path: ["generate_request_id"],
    why: ID_WHY,
  },
  {
    check: "request_id",
    path: ["preserve_external_request_id"],
    why: ID_WHY,
  },
  {
    check: "request_id",
    path: ["always_set_request_id_in_response"],
    holds: isRendered(false),
    why: ID_WHY,
  },
  {
    check: "timeouts",
    path: ["request_headers_timeout"],
    holds: isAtLeastSeconds(1),
    why: "a client that sends headers byte by byte could keep a connection forever.",
  },
  {
    check: "timeouts",
    path: ["request_timeout"],
    holds: isAtLeastSeconds(1),
    why: "a client that sends a body byte by byte could keep its buffer forever.",
  },
  {
    check: "timeouts",
    path: ["stream_idle_timeout"],
    holds: (view) => view.seconds === 0 || isAtLeastSeconds(600)(view),
    why: "SDKs wait ten minutes for a response that isn't streamed; Envoy's default ends it after five.",
  },
];

/** Checks a connection manager's own settings. */
export function checkManager(manager: YamlView, rendered: Rendered): BootstrapFinding[] {
  const pair = (...path: string[]) => [manager.at(...path), rendered.manager.at(...path)] as const;
  return [
    ...checkSettings(manager, rendered.manager, RULES),
    ...checkEarlyMutation(...pair("early_header_mutation_extensions")),
    ...checkLocalReplies(...pair("local_reply_config", "mappers")),
    ...checkEndReports(manager.at("access_log")),
  ];
}

function listMutations(extensions: YamlView): YamlView[] {
  return extensions.items().flatMap((one) => one.at("typed_config", "mutations").items());
}

function listRemovedPrefixes(mutations: readonly YamlView[]): string[] {
  return mutations
    .map((one) => one.at("remove_on_match", "key_matcher", "prefix").text)
    .filter((prefix) => prefix !== "");
}

function listSetHeaders(mutations: readonly YamlView[]): YamlView[] {
  return mutations.map((one) => one.at("append")).filter(({ exists }) => exists);
}

/** The value of a request id is the operator's choice. */
function formatSetHeader(append: YamlView): string {
  return `${append.at("header", "key").text} ${append.at("append_action").text}`;
}

const WITHOUT_ID = {
  check: "request_id",
  message: "no request id is set before routing: the gateway would use the client's own id.",
};

function checkEarlyMutation(extensions: YamlView, wanted: YamlView): BootstrapFinding[] {
  const [mutations, right] = [listMutations(extensions), listMutations(wanted)];
  const removed = listRemovedPrefixes(mutations);
  const missing = listRemovedPrefixes(right).filter((prefix) => !removed.includes(prefix));
  const findings = missing.flatMap((prefix) =>
    findAt(extensions, {
      check: "early_header_removal",
      message: `clients' \`${prefix}*\` headers aren't removed before routing: clients could forge an admission, choose an upstream or make Envoy retry.`,
      fix: `Add the mutation \`remove_on_match: {key_matcher: {prefix: ${prefix}}}\` to an early_header_mutation extension.`,
    }),
  );
  const set = listSetHeaders(mutations).map(formatSetHeader);
  const unset = listSetHeaders(right).filter((append) => !set.includes(formatSetHeader(append)));
  const withoutHeader = unset.flatMap((append) => {
    const key = append.at("header", "key").text;
    return findAt(extensions, {
      ...(key === WORKER_HEADER
        ? { check: "worker_choice", message: `${key} isn't set: ${WORKER_CHOICE_WHY}` }
        : WITHOUT_ID),
      fix: `Add the mutation \`append: {header: {key: ${key}, value: "${append.at("header", "value").text}"}, append_action: ${append.at("append_action").text}}\`.`,
    });
  });
  return [...findings, ...withoutHeader];
}

/** Checks that the sidecar gets reports of abnormal ends, whatever else is logged over gRPC. */
function checkEndReports(logs: YamlView): BootstrapFinding[] {
  const isForSidecar = (log: YamlView): boolean =>
    log.at("typed_config", "common_config", "grpc_service", "envoy_grpc", "cluster_name").text ===
    SIDECAR_CLUSTER;
  return findUnless(logs.items().some(isForSidecar), logs, {
    check: "end_reports",
    message:
      "the sidecar doesn't learn how requests ended: a response that breaks off is recorded without a cause.",
    fix: `Add the access log \`${END_REPORTS_LOG}\` from \`inference-gateway envoy render\`.`,
  });
}

/** Checks that every error of Envoy's own has its row, after a mapper that passes the sidecar's replies. */
function checkLocalReplies(mappers: YamlView, wanted: YamlView): BootstrapFinding[] {
  const rows = mappers.items();
  const right = firstExpression(wanted);
  const sidecarDetails = right.match(/'[^']*'/g) ?? [];
  const passes = sidecarDetails.every((details) => firstExpression(mappers).includes(details));
  const written = JSON.stringify(rows.map((row) => row.value));
  const codes = [...new Set(LOCAL_REPLIES.map((row) => row.code))];
  const missing = codes.filter((code) => !written.includes(`"${code}"`));
  return [
    ...findUnless(passes, rows[0] ?? mappers, {
      check: "local_replies",
      message: "the first mapper would rewrite the sidecar's own responses.",
      fix: `Add a first mapper with the expression \`${right}\`.`,
    }),
    ...findUnless(missing.length === 0, mappers, {
      check: "local_replies",
      message: `Envoy's own errors don't have the gateway's format: no mapper writes ${missing.join(", ")}.`,
      fix: "Copy `local_reply_config` from `inference-gateway envoy render`.",
    }),
  ];
}

function firstExpression(mappers: YamlView): string {
  return mappers.at(0, "filter", "extension_filter", "typed_config", "expression").text;
}
