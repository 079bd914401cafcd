import { choice, integer, orNull, secret, section, sectionOrNull } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { upstreamUrl } from "./urls.ts";

/** `telemetry`: logs, metrics, traces. */
export function createTelemetrySchema(source: SecretSource) {
  return section({
    log_level: choice(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
      .default("info")
      .describe(
        "What the gateway's processes log; one line a request at `debug`. `PUT /api/log-level` changes it at run time.",
      ),
    metrics_token: orNull(secret(source)).describe(
      "Bearer token for `GET /metrics` on the admin port; the operator's is good, too. Left out: no token where " +
        "`admin.host` is loopback, the operator's elsewhere.",
    ),
    otlp: sectionOrNull({
      url: upstreamUrl().describe(
        "OpenTelemetry collector to which Envoy sends traces by OTLP over gRPC; their context continues to upstreams.",
      ),
      sampling_percent: integer(0, 100, "percent")
        .default(100)
        .describe("How many of the requests without a trace of their client's begin one."),
    }),
  });
}
