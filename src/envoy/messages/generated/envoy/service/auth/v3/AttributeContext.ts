// Original file: proto/envoy/service/auth/v3/attribute_context.proto

import type { Metadata as _envoy_config_core_v3_Metadata, Metadata__Output as _envoy_config_core_v3_Metadata__Output } from '../../../../envoy/config/core/v3/Metadata.ts';
import type { Long } from '@grpc/proto-loader';

export interface _envoy_service_auth_v3_AttributeContext_HttpRequest {
  'id'?: (string);
  'method'?: (string);
  'headers'?: ({[key: string]: string});
  'path'?: (string);
  'host'?: (string);
  'scheme'?: (string);
  'size'?: (number | string | Long);
  'protocol'?: (string);
}

export interface _envoy_service_auth_v3_AttributeContext_HttpRequest__Output {
  'id'?: (string);
  'method'?: (string);
  'headers'?: ({[key: string]: string});
  'path'?: (string);
  'host'?: (string);
  'scheme'?: (string);
  'size'?: (string);
  'protocol'?: (string);
}

export interface _envoy_service_auth_v3_AttributeContext_Request {
  'http'?: (_envoy_service_auth_v3_AttributeContext_HttpRequest | null);
}

export interface _envoy_service_auth_v3_AttributeContext_Request__Output {
  'http'?: (_envoy_service_auth_v3_AttributeContext_HttpRequest__Output);
}

export interface AttributeContext {
  'request'?: (_envoy_service_auth_v3_AttributeContext_Request | null);
  'context_extensions'?: ({[key: string]: string});
  'metadata_context'?: (_envoy_config_core_v3_Metadata | null);
}

export interface AttributeContext__Output {
  'request'?: (_envoy_service_auth_v3_AttributeContext_Request__Output);
  'context_extensions'?: ({[key: string]: string});
  'metadata_context'?: (_envoy_config_core_v3_Metadata__Output);
}
