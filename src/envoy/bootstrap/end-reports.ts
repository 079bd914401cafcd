/**
 * Second access log, sent over gRPC to the sidecar, for requests that ended abnormally: the end of an
 * ext_proc call does not say whether the client disconnected, the upstream failed or a timeout expired, and a
 * request that a guardrail blocked never opens one.
 * @see https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/access_loggers/grpc/v3/als.proto
 */
import { REMAINING_HEADER } from "../../shared/contract/header-names.ts";
import {
  ADMISSION_HEADER,
  ADMISSION_NAMESPACE,
  END_REPORTS_LOG,
  GUARDRAIL_NAMESPACE,
  GUARDRAIL_REASON,
  METADATA_NAMESPACE,
  REPORT_TAGS,
  SIDECAR_CLUSTER,
} from "../names.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

/**
 * Response flags of ends that the sidecar may not see: client gone (DC, DR), connection broken on either side
 * (LR, UR, UC), timeout (UT, SI, UMSDR, DT), protocol error (DPE, UPE).
 */
const FLAGS = ["DC", "DR", "LR", "UR", "UC", "UT", "SI", "UMSDR", "DT", "DPE", "UPE"];
/** Statuses of Envoy's own replies without a flag: body too slow, body too large. */
const STATUSES = [408, 413];

/** Returns an entry of the connection manager's `access_log`. */
export function createEndReports(): EnvoyNode {
  return {
    "#": "How requests ended that did not end in order, for the sidecar: its records name who broke off.",
    name: END_REPORTS_LOG,
    filter: {
      and_filter: {
        filters: [
          {
            "#metadata_filter": "Requests that ext_authz has admitted; nobody without a key has a say here.",
            ...createMetadataFilter(ADMISSION_NAMESPACE, REMAINING_HEADER),
          },
          {
            or_filter: {
              filters: [
                { response_flag_filter: oneLine({ flags: FLAGS }) },
                ...STATUSES.map(createStatusFilter),
                createMetadataFilter(GUARDRAIL_NAMESPACE, GUARDRAIL_REASON),
              ],
            },
          },
        ],
      },
    },
    typed_config: typed("envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", {
      common_config: {
        log_name: "inference_gateway",
        transport_api_version: "V3",
        grpc_service: { envoy_grpc: oneLine({ cluster_name: SIDECAR_CLUSTER }) },
        "#buffer_size_bytes": "Each at once: somebody waits for it.",
        buffer_size_bytes: 0,
        "#custom_tags": "Who was blocked by a guardrail, and why: ext_proc may never have seen the request.",
        custom_tags: [
          createMetadataTag(REPORT_TAGS.guardrail, GUARDRAIL_NAMESPACE, GUARDRAIL_REASON),
          createMetadataTag(REPORT_TAGS.organization, METADATA_NAMESPACE, "organization_id"),
          oneLine({ tag: REPORT_TAGS.admission, request_header: { name: ADMISSION_HEADER } }),
        ],
      },
    }),
  };
}

/**
 * Matches requests that have this metadata field. ext_authz sets the fields of the bucket when it admits a request.
 */
function createMetadataFilter(filter: string, key: string): EnvoyNode {
  return {
    metadata_filter: {
      matcher: oneLine({ filter, path: [{ key }], value: { present_match: true } }),
      match_if_key_not_found: false,
    },
  };
}

function createMetadataTag(tag: string, key: string, field: string): ReturnType<typeof oneLine> {
  return oneLine({ tag, metadata: { kind: { request: {} }, metadata_key: { key, path: [{ key: field }] } } });
}

function createStatusFilter(status: number): EnvoyNode {
  const value = { default_value: status, runtime_key: `inference_gateway.reported_status_${status}` };
  return { status_code_filter: { comparison: oneLine({ op: "EQ", value }) } };
}
