/** Filters and routes. */
import type { Mutation } from "./mutation.ts";

/** The one that has nothing but its prefix: others with this prefix ask for headers, too. */
const LAST_MATCH = /- match:\n +prefix: \/\n(?= +route:)/;
const EXT_PROC = "- name: envoy.filters.http.ext_proc";

export const FILTER_MUTATIONS: Mutation[] = [
  {
    check: "filter_order",
    name: "nothing that writes content-length",
    after: "- name: inference_gateway.content_length",
    find: "buffer.v3.Buffer",
    write: "buffer.v3.Other",
    line: "http_filters:",
  },
  {
    check: "filter_order",
    name: "ext_authz switched off",
    find: "- name: envoy.filters.http.ext_authz\n",
    write: "- disabled: true\n                    name: envoy.filters.http.ext_authz\n",
    line: "disabled: true",
  },
  {
    check: "client_path",
    name: "path not kept",
    find: "metadata_namespace: inference_gateway_edge",
    write: "metadata_namespace: other",
    line: "http_filters:",
  },
  {
    check: "failure_mode_allow",
    name: "ext_authz lets pass",
    find: "failure_mode_allow: false",
    write: "failure_mode_allow: true",
    line: "failure_mode_allow: true",
  },
  {
    check: "failure_mode_allow",
    name: "ext_proc lets pass",
    after: EXT_PROC,
    find: "failure_mode_allow: false",
    write: "failure_mode_allow: true",
    line: "failure_mode_allow: true",
  },
  {
    check: "status_on_error",
    name: "403 when gone",
    find: "status_on_error: {code: 503}",
    write: "status_on_error: {code: 403}",
    line: "code: 403",
  },
  {
    check: "timeouts",
    name: "ext_authz default",
    find: "timeout: 5s",
    write: "authority: x",
    line: "grpc_service:",
  },
  {
    check: "timeouts",
    name: "ext_authz too short",
    find: "timeout: 5s",
    write: "timeout: 0.2s",
    line: "timeout: 0.2s",
  },
  {
    check: "mode_override",
    name: "no override",
    find: "allow_mode_override: true",
    write: "allow_mode_override: false",
    line: "allow_mode_override",
  },
  {
    check: "message_timeout",
    name: "too short",
    find: "message_timeout: 5s",
    write: "message_timeout: 0.2s",
    line: "message_timeout",
  },
  {
    check: "mutation_rules",
    name: "no routing",
    find: "{allow_all_routing: true, allow_envoy: true}",
    write: "{allow_all_routing: false, allow_envoy: true}",
    line: "allow_all_routing",
  },
  {
    check: "mutation_rules",
    name: "no x-envoy headers",
    find: "{allow_all_routing: true, allow_envoy: true}",
    write: "{allow_all_routing: true}",
    line: "mutation_rules",
  },
  {
    check: "response_attributes",
    name: "none",
    find: "response_attributes: [response.code_details, upstream.request_attempt_count]",
    write: "response_attributes: []",
    line: "response_attributes",
  },
  {
    check: "metadata_options",
    name: "other namespace",
    find: "untyped: [inference_gateway]",
    write: "untyped: [other]",
    line: "untyped",
  },
  {
    check: "processing_mode",
    name: "response headers",
    after: EXT_PROC,
    find: "response_header_mode: SKIP",
    write: "response_header_mode: SEND",
    line: "response_header_mode",
  },
  {
    check: "last_route",
    name: "not every path",
    find: LAST_MATCH,
    write: "- match:\n                            prefix: /v1\n",
    line: "- match:",
  },
  {
    check: "last_route",
    name: "a fixed cluster",
    find: "cluster_header: x-igw-upstream",
    write: "cluster: local",
    line: "route:",
  },
  {
    check: "last_route",
    name: "not every domain",
    find: 'domains: ["*"]',
    write: 'domains: ["example.com"]',
    line: "virtual_hosts:",
  },
  {
    check: "body_mode",
    name: "bodies for the asking",
    find: "request_body_mode: FULL_DUPLEX_STREAMED",
    write: "request_body_mode: BUFFERED",
    line: "envoy.filters.http.ext_proc:",
  },
  {
    check: "retries",
    name: "a policy",
    find: "cluster_header: x-igw-upstream",
    write: "cluster_header: x-igw-upstream\n                            retry_policy: {retry_on: 5xx}",
    line: "retry_policy",
  },
  {
    check: "timeouts",
    name: "route default",
    after: "cluster_header",
    find: "timeout: 0s",
    write: "priority: DEFAULT",
    line: "route:",
  },
  {
    check: "bypass",
    name: "to an upstream without ext_authz",
    find: LAST_MATCH,
    write:
      '- match: {path: /x}\n                          route: {cluster: local}\n                          typed_per_filter_config: {envoy.filters.http.ext_authz: {"@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute, disabled: true}}\n                        - match: {prefix: "/"}\n',
    line: "typed_per_filter_config: {",
  },
  {
    check: "bypass",
    name: "a whole virtual host without ext_proc",
    find: 'domains: ["*"]\n',
    write:
      'domains: ["*"]\n                      typed_per_filter_config: {envoy.filters.http.ext_proc: {"@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute, disabled: true}}\n',
    line: "typed_per_filter_config: {",
  },
  {
    check: "route_restrictions",
    name: "a misspelled one",
    find: LAST_MATCH,
    write:
      '- match: {path: /y}\n                          direct_response: {status: 200}\n                          typed_per_filter_config: {envoy.filters.http.ext_authz: {check_settings: {context_extensions: {allowed_model: x}}}, envoy.filters.http.buffer: {disabled: true}, inference_gateway.content_length: {disabled: true}}\n                        - match: {prefix: "/"}\n',
    line: "allowed_model: x",
  },
];
