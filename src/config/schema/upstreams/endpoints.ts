/** Where an upstream is: one server or several, how requests are shared among them, how a dead one is noticed. */
import { described, integer, list, mapping, orNull, text } from "../fields.ts";
import { upstreamUrl } from "../urls.ts";

const MAX_WEIGHT = 1_000;
const MAX_PRIORITY = 9;

/** Fields of an upstream. */
export function createPlaceFields() {
  return {
    url: upstreamUrl()
      .optional()
      .describe("`http://host:port` or `https://host:port`. One of this, `urls` and `endpoints`."),
    urls: described(
      list(upstreamUrl(), "URLs", 1).optional(),
      "Endpoints that serve the same models; all `http` or all `https`.",
      { type: "list of URLs" },
    ),
    endpoints: createEndpointsSchema().optional(),
    health_check: createHealthCheckSchema(),
    slow_start_seconds: createSlowStartSchema(),
  };
}

/** `upstreams[].endpoints`. */
function createEndpointsSchema() {
  const endpoint = mapping({
    url: upstreamUrl().describe("The same as a member of `urls`, none twice."),
    weight: integer(1, MAX_WEIGHT).default(1).describe("Share of the requests within its priority."),
    priority: integer(0, MAX_PRIORITY)
      .default(0)
      .describe("0 is used first, 1 if too few of 0 are healthy, and so on without gaps."),
  });
  return list(endpoint, "endpoints", 1);
}

/** `upstreams[].health_check`. */
function createHealthCheckSchema() {
  const healthCheck = mapping({
    path: described(
      text("a path such as `/health`", /^\/[\x21-\x7e]*$/),
      "Path that Envoy gets without a credential; 200: healthy.",
      { type: "path" },
    ),
    interval_seconds: integer(1, 300, "seconds")
      .default(5)
      .describe("Time between checks. Two failures in a row remove an endpoint, one success restores it."),
  });
  return orNull(healthCheck);
}

/** `upstreams[].slow_start_seconds`. */
function createSlowStartSchema() {
  return orNull(integer(1, 3_600, "seconds")).describe(
    "Time until an endpoint that is new, or healthy again, gets its full share.",
  );
}
