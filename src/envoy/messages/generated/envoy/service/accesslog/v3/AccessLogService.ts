// Original file: proto/envoy/service/accesslog/v3/als.proto

import type { MethodDefinition } from '@grpc/proto-loader'
import type { StreamAccessLogsMessage as _envoy_service_accesslog_v3_StreamAccessLogsMessage, StreamAccessLogsMessage__Output as _envoy_service_accesslog_v3_StreamAccessLogsMessage__Output } from '../../../../envoy/service/accesslog/v3/StreamAccessLogsMessage.ts';
import type { StreamAccessLogsResponse as _envoy_service_accesslog_v3_StreamAccessLogsResponse, StreamAccessLogsResponse__Output as _envoy_service_accesslog_v3_StreamAccessLogsResponse__Output } from '../../../../envoy/service/accesslog/v3/StreamAccessLogsResponse.ts';

export interface AccessLogServiceDefinition {
  StreamAccessLogs: MethodDefinition<_envoy_service_accesslog_v3_StreamAccessLogsMessage, _envoy_service_accesslog_v3_StreamAccessLogsResponse, _envoy_service_accesslog_v3_StreamAccessLogsMessage__Output, _envoy_service_accesslog_v3_StreamAccessLogsResponse__Output>
}
