import { CHECK, PROCESS, type HealthCheckResponse } from "../messages/codec.ts";

/** The gRPC health checking protocol without its transport. @see https://grpc.io/docs/guides/health-checking/ */
export interface HealthService {
  /** Returns the status, or null for an unknown service. */
  check(service: string): HealthCheckResponse | null;
  /** Reports the status at once, and within a second of each change. Returns a function that stops it. */
  watch(service: string, onStatus: (response: HealthCheckResponse) => void): () => void;
}

const WATCH_INTERVAL_MS = 1_000;
/** `/package.Service/Method` → `package.Service`; the empty name is the server as a whole. */
const SERVICES = new Set(["", ...[CHECK.path, PROCESS.path].map((path) => path.split("/")[1] ?? "")]);

/** Health of all services at once: one process serves them together or not at all. */
export function createHealthService(isServing: () => boolean): HealthService {
  const check = (service: string): HealthCheckResponse | null =>
    SERVICES.has(service) ? { status: isServing() ? "SERVING" : "NOT_SERVING" } : null;
  return {
    check,
    watch(service, onStatus) {
      let last: HealthCheckResponse["status"];
      const report = () => {
        const response = check(service) ?? { status: "SERVICE_UNKNOWN" };
        if (response.status === last) return;
        last = response.status;
        onStatus(response);
      };
      report();
      const timer = setInterval(report, WATCH_INTERVAL_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}
