import { choice, integer, orNull, secret, section, sectionOrNull } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { upstreamUrl } from "./urls.ts";

/** `telemetry`: logs, metrics, traces. */
export function createTelemetrySchema(source: SecretSource) {
  return section({
    log_level: choice(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
      .default("info")
      .describe(
        "Log level at the start; `debug` has a line for each request. `PUT /api/log-level` changes it.",
      ),
    metrics_token: orNull(secret(source)).describe(
      "Bearer token for `GET /metrics` on the admin port. The operator's token also works; with `admin.host` on loopback and without this field, no token is needed.",
    ),
    otlp: sectionOrNull({
      url: upstreamUrl().describe(
        "OpenTelemetry collector for Envoy's traces, by OTLP over gRPC. Upstreams get the trace context.",
      ),
      sampling_percent: integer(0, 100, "percent")
        .default(100)
        .describe("Share of the requests without a client's trace that start one."),
    }),
  });
}
