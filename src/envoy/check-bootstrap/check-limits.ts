/** Checks that body limits of Envoy and of `gateway.yaml` agree. */
import { FILTERS } from "./filter-types.ts";
import { type BootstrapFinding, findUnless } from "./finding.ts";
import { findFilter, type Rendered } from "./rendered.ts";
import type { YamlView } from "./yaml-view.ts";

/** Checks a connection manager. */
export function checkLimits(manager: YamlView, rendered: Rendered, maxBodyBytes: number): BootstrapFinding[] {
  const limit = readBodyLimit(manager);
  if (limit === undefined) return [];
  const right = readBodyLimit(rendered.manager)?.number;
  return findUnless(limit.number === right, limit, {
    check: "body_limit",
    message: `Envoy accepts bodies of ${String(limit.value)} bytes, but needs ${right}: limits.max_body_bytes (${maxBodyBytes}) plus what translation can add.`,
    fix: `Write \`max_request_bytes: ${right}\`, or change limits.max_body_bytes.`,
  });
}

function readBodyLimit(manager: YamlView): YamlView | undefined {
  return findFilter(manager.at("http_filters"), FILTERS.buffer)?.at("typed_config", "max_request_bytes");
}
