/**
 * Between the first NOT_SERVING and the first GOAWAY: Envoy checks health each second and then sends new calls to other
 * hosts by itself. Until then its connections must be accepted, or the requests on them fail.
 */
export const HEALTH_NOTICE_MS = 1_500;
