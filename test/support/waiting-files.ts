/**
 * Tests of whole stacks that mostly wait, for a clock, a deadline, Prometheus, an outage: most take a third of a core or
 * less. In `npm test` they run beside the faults, whose load leaves half of two cores idle and bears no other load.
 */
export const WAITING_FILES = [
  "test/envoy/admin-process.test.ts",
  "test/envoy/config-reload.test.ts",
  "test/envoy/drain.test.ts",
  "test/envoy/forecast-alert.test.ts",
  "test/envoy/messages-long.test.ts",
  "test/envoy/metering-progress.test.ts",
  "test/envoy/redis-outage.test.ts",
  "test/envoy/sidecar-mtls.test.ts",
  "test/envoy/session-outage.test.ts",
  "test/envoy/tags-outage.test.ts",
  "test/envoy/true-waits.test.ts",
  "test/envoy/traces.test.ts",
  "test/envoy/workers.test.ts",
  "test/monitoring/alarms-redis.test.ts",
  "test/monitoring/alarms-requests.test.ts",
  "test/monitoring/alarms-workers.test.ts",
];
