import { choice, integer, orNull, secret, section, sectionOrNull } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { upstreamUrl } from "./urls.ts";

/** `telemetry`: logs, metrics, traces. */
export function createTelemetrySchema(source: SecretSource) {
  return section({
    log_level: choice(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
      .default("info")
      .describe("Log level at the start; `debug` has a line for each request."),
    metrics_token: orNull(secret(source)).describe(
      "Bearer token for `GET /metrics`, like the operator's; without this field, loopback needs none.",
    ),
    otlp: sectionOrNull({
      url: upstreamUrl().describe("OpenTelemetry collector for Envoy's traces (OTLP over gRPC)."),
      sampling_percent: integer(0, 100, "percent")
        .default(100)
        .describe("Share of the requests without a trace that start one."),
    }),
  });
}
