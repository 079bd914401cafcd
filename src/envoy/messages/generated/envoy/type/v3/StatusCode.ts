// Original file: proto/envoy/type/v3/http_status.proto

export const StatusCode = {
  Empty: 'Empty',
  OK: 'OK',
  BadRequest: 'BadRequest',
  Unauthorized: 'Unauthorized',
  PaymentRequired: 'PaymentRequired',
  Forbidden: 'Forbidden',
  NotFound: 'NotFound',
  MethodNotAllowed: 'MethodNotAllowed',
  RequestTimeout: 'RequestTimeout',
  PayloadTooLarge: 'PayloadTooLarge',
  UnsupportedMediaType: 'UnsupportedMediaType',
  UpgradeRequired: 'UpgradeRequired',
  TooManyRequests: 'TooManyRequests',
  RequestHeaderFieldsTooLarge: 'RequestHeaderFieldsTooLarge',
  InternalServerError: 'InternalServerError',
  BadGateway: 'BadGateway',
  ServiceUnavailable: 'ServiceUnavailable',
  GatewayTimeout: 'GatewayTimeout',
} as const;

export type StatusCode =
  | 'Empty'
  | 0
  | 'OK'
  | 200
  | 'BadRequest'
  | 400
  | 'Unauthorized'
  | 401
  | 'PaymentRequired'
  | 402
  | 'Forbidden'
  | 403
  | 'NotFound'
  | 404
  | 'MethodNotAllowed'
  | 405
  | 'RequestTimeout'
  | 408
  | 'PayloadTooLarge'
  | 413
  | 'UnsupportedMediaType'
  | 415
  | 'UpgradeRequired'
  | 426
  | 'TooManyRequests'
  | 429
  | 'RequestHeaderFieldsTooLarge'
  | 431
  | 'InternalServerError'
  | 500
  | 'BadGateway'
  | 502
  | 'ServiceUnavailable'
  | 503
  | 'GatewayTimeout'
  | 504

export type StatusCode__Output = typeof StatusCode[keyof typeof StatusCode]
