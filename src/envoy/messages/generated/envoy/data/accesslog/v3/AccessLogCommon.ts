// Original file: proto/envoy/data/accesslog/v3/accesslog.proto

import type { Duration as _google_protobuf_Duration, Duration__Output as _google_protobuf_Duration__Output } from '../../../../google/protobuf/Duration.ts';

export interface AccessLogCommon {
  'duration'?: (_google_protobuf_Duration | null);
}

export interface AccessLogCommon__Output {
  'duration'?: (_google_protobuf_Duration__Output);
}
