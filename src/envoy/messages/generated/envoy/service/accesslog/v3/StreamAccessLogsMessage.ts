// Original file: proto/envoy/service/accesslog/v3/als.proto

import type { HTTPAccessLogEntry as _envoy_data_accesslog_v3_HTTPAccessLogEntry, HTTPAccessLogEntry__Output as _envoy_data_accesslog_v3_HTTPAccessLogEntry__Output } from '../../../../envoy/data/accesslog/v3/HTTPAccessLogEntry.ts';

export interface _envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries {
  'log_entry'?: (_envoy_data_accesslog_v3_HTTPAccessLogEntry)[];
}

export interface _envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries__Output {
  'log_entry'?: (_envoy_data_accesslog_v3_HTTPAccessLogEntry__Output)[];
}

export interface StreamAccessLogsMessage {
  'http_logs'?: (_envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries | null);
  'log_entries'?: "http_logs";
}

export interface StreamAccessLogsMessage__Output {
  'http_logs'?: (_envoy_service_accesslog_v3_StreamAccessLogsMessage_HTTPAccessLogEntries__Output);
  'log_entries'?: "http_logs";
}
