// Original file: proto/envoy/data/accesslog/v3/accesslog.proto


export interface AccessLogCommon {
  'custom_tags'?: ({[key: string]: string});
}

export interface AccessLogCommon__Output {
  'custom_tags'?: ({[key: string]: string});
}
