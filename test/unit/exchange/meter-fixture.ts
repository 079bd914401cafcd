import type { FinishedRequest } from "../../../src/shared/telemetry/request-meter.ts";

/** A meter that keeps the events of ended requests. */
export function createRecordingMeter() {
  const finished: FinishedRequest[] = [];
  return {
    finished,
    meter: {
      admitted: () => undefined,
      routed: () => undefined,
      retried: () => undefined,
      chunk: () => undefined,
      finished: (request: FinishedRequest) => void finished.push(request),
    },
  };
}
