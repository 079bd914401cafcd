/** The connection manager: paths, headers, waits and replies before and beside the filters. */
import { EDGE_METADATA_NAMESPACE, IMMEDIATE_RESPONSE_DETAILS, INTERNAL_HEADER_PREFIX } from "../names.ts";
import { LOCAL_REPLIES } from "../bootstrap/local-replies.ts";
import { type BootstrapFinding, createFinding } from "./finding.ts";
import { checkSettings, is, isAtLeastSeconds, type SettingRule } from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

const ID_WHY = "clients could choose the request id, or a refusal would lose its own.";

const RULES: readonly SettingRule[] = [
  {
    check: "normalize_path",
    path: ["normalize_path"],
    holds: is(true),
    why: "a route and the sidecar could read `/healthz/../v1/models` as two different paths.",
    write: "normalize_path: true",
  },
  {
    check: "merge_slashes",
    path: ["merge_slashes"],
    holds: is(true),
    why: "a route and the sidecar could read `//v1/models` as two different paths.",
    write: "merge_slashes: true",
  },
  {
    check: "escaped_slashes",
    path: ["path_with_escaped_slashes_action"],
    holds: is("KEEP_UNCHANGED"),
    why: "the slash in a model's id may come as %2F and must reach the sidecar as it came.",
    write: "path_with_escaped_slashes_action: KEEP_UNCHANGED",
  },
  {
    check: "request_id",
    path: ["generate_request_id"],
    holds: is(false),
    why: ID_WHY,
    write: "generate_request_id: false",
  },
  {
    check: "request_id",
    path: ["preserve_external_request_id"],
    holds: is(true),
    why: ID_WHY,
    write: "preserve_external_request_id: true",
  },
  {
    check: "request_id",
    path: ["always_set_request_id_in_response"],
    holds: is(false, false),
    why: ID_WHY,
    write: "always_set_request_id_in_response: false",
  },
  {
    check: "timeouts",
    path: ["request_headers_timeout"],
    holds: isAtLeastSeconds(1),
    why: "whoever sends headers byte by byte holds a connection for ever.",
    write: "request_headers_timeout: 10s",
  },
  {
    check: "timeouts",
    path: ["request_timeout"],
    holds: isAtLeastSeconds(1),
    why: "whoever sends a body byte by byte holds its buffer for ever.",
    write: "request_timeout: 60s",
  },
  {
    check: "timeouts",
    path: ["stream_idle_timeout"],
    holds: (view) => view.seconds === 0 || isAtLeastSeconds(600)(view),
    why: "SDKs wait ten minutes for an answer that is not streamed; Envoy's default ends it after five.",
    write: "stream_idle_timeout: 900s",
  },
];

/** Findings in a connection manager's own settings. */
export function checkManager(manager: YamlView): BootstrapFinding[] {
  return [
    ...checkSettings(manager, RULES),
    ...checkEarlyMutation(manager.at("early_header_mutation_extensions")),
    ...checkLocalReplies(manager.at("local_reply_config", "mappers")),
  ];
}

function checkEarlyMutation(extensions: YamlView): BootstrapFinding[] {
  const mutations = extensions.items().flatMap((one) => one.at("typed_config", "mutations").items());
  const removed = mutations.map((one) => one.at("remove_on_match", "key_matcher", "prefix").text);
  const missing = [INTERNAL_HEADER_PREFIX, "x-envoy-"].filter((prefix) => !removed.includes(prefix));
  const findings = missing.map((prefix) =>
    createFinding(extensions, {
      check: "early_header_removal",
      message: `clients' \`${prefix}*\` headers are not removed before routing: they could forge an admission, choose an upstream or have Envoy retry.`,
      fix: `Add the mutation \`remove_on_match: {key_matcher: {prefix: ${prefix}}}\` to an early_header_mutation extension.`,
    }),
  );
  const setsId = mutations.some(
    (one) =>
      one.at("append", "header", "key").text === "x-request-id" &&
      one.at("append", "append_action").text === "OVERWRITE_IF_EXISTS_OR_ADD",
  );
  if (setsId) return findings;
  const text = {
    check: "request_id",
    message: "no request id is set before routing: a client's own would be taken for the gateway's.",
    fix: 'Add the mutation `append: {header: {key: x-request-id, value: "req_%UNIQUE_ID%"}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}`.',
  };
  return [...findings, createFinding(extensions, text)];
}

/** Every error that Envoy makes by itself has its row, and the sidecar's answers pass before all of them. */
function checkLocalReplies(mappers: YamlView): BootstrapFinding[] {
  const rows = mappers.items();
  const expression = rows[0]?.at("filter", "extension_filter", "typed_config", "expression").text ?? "";
  const passes = ["ext_authz_denied", IMMEDIATE_RESPONSE_DETAILS].every((part) =>
    expression.includes(`'${part}'`),
  );
  const findings = passes
    ? []
    : [
        createFinding(rows[0] ?? mappers, {
          check: "local_replies",
          message: "the first mapper does not let the sidecar's own answers pass: they would be rewritten.",
          fix: `Begin with a mapper whose expression is \`response.code_details in ['ext_authz_denied', '${IMMEDIATE_RESPONSE_DETAILS}'] || response.code < 400\`.`,
        }),
      ];
  const written = JSON.stringify(rows.map((row) => row.value));
  const codes = [...new Set(LOCAL_REPLIES.map((row) => row.code))];
  const missing = codes.filter((code) => !written.includes(`"${code}"`));
  if (missing.length === 0) return findings;
  const text = {
    check: "local_replies",
    message: `Envoy's own errors are not in the gateway's shape; no mapper writes ${missing.join(", ")}.`,
    fix: "Take `local_reply_config` over from `inference-gateway envoy render`.",
  };
  return [...findings, createFinding(mappers, text)];
}

/** The client's path, kept for error envelopes and the access log. */
export function keepsClientPath(filter: YamlView): boolean {
  return filter
    .at("typed_config", "request_rules")
    .items()
    .some((rule) => rule.at("on_header_present", "metadata_namespace").text === EDGE_METADATA_NAMESPACE);
}
