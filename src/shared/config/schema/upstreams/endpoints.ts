/** Addresses of an upstream: one server or several, their shares of requests, and health checks. */
import { described, integer, list, mapping, orNull, sectionOrNull, text } from "../fields.ts";
import { upstreamUrl } from "../urls.ts";

const MAX_WEIGHT = 1_000;
const MAX_PRIORITY = 9;

/** Returns the address fields of an upstream. */
export function createPlaceFields() {
  return {
    url: upstreamUrl()
      .optional()
      .describe("`http://host:port` or `https://host:port`; either this, `urls` or `endpoints`."),
    urls: described(
      list(upstreamUrl(), "URLs", 1).optional(),
      "Endpoints with the same models; all `http` or all `https`.",
      { type: "list of URLs" },
    ),
    endpoints: createEndpointsSchema().optional(),
    health_check: createHealthCheckSchema(),
    slow_start_seconds: createSlowStartSchema(),
    endpoint_picker: createEndpointPickerSchema(),
  };
}

/** `upstreams[].endpoints`. */
function createEndpointsSchema() {
  const endpoint = mapping({
    url: upstreamUrl().describe("URL of the endpoint, none twice."),
    weight: integer(1, MAX_WEIGHT).default(1).describe("Share of the requests within its priority."),
    priority: integer(0, MAX_PRIORITY)
      .default(0)
      .describe("0 is used first, 1 if too few of 0 are healthy; no gaps."),
  });
  return list(endpoint, "endpoints", 1);
}

/** `upstreams[].health_check`. */
function createHealthCheckSchema() {
  const healthCheck = mapping({
    path: described(
      text("a path such as `/health`", /^\/[\x21-\x7e]*$/),
      "Path that returns 200 without a credential.",
      { type: "path" },
    ),
    interval_seconds: integer(1, 300, "seconds")
      .default(5)
      .describe("Time between checks; two failures remove an endpoint, one success restores it."),
  });
  return orNull(healthCheck);
}

/** `upstreams[].endpoint_picker`. */
function createEndpointPickerSchema() {
  return sectionOrNull({
    objective: described(
      orNull(text("the name of an `InferenceObjective`", /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/)),
      "Sent to the [endpoint picker](envoy.md#use-an-endpoint-picker) in `x-gateway-inference-objective`.",
      { type: "name of an `InferenceObjective`" },
    ),
  });
}

/** `upstreams[].slow_start_seconds`. */
function createSlowStartSchema() {
  return orNull(integer(1, 3_600, "seconds")).describe(
    "Time until a new or recovered endpoint gets its full share.",
  );
}
