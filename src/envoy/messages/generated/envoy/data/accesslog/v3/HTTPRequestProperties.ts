// Original file: proto/envoy/data/accesslog/v3/accesslog.proto


export interface HTTPRequestProperties {
  'request_id'?: (string);
}

export interface HTTPRequestProperties__Output {
  'request_id'?: (string);
}
