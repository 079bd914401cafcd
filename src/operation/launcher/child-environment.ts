import { Secret } from "../../shared/config/secret.ts";
import type { Config } from "../../shared/config/schema.ts";

/**
 * Returns the environment for a child, without variables of secrets that the child must not have: Redis and
 * Envoy need none, `serve` needs all but the upstreams' credentials, which only Envoy gets, as files.
 */
export function environmentFor(
  child: "redis" | "envoy" | "serve",
  config: Config,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const upstreamOnly = secretVariables(config.upstreams);
  const own = secretVariables({ ...config, upstreams: null });
  const hidden =
    child === "serve"
      ? new Set([...upstreamOnly].filter((name) => !own.has(name)))
      : new Set([...upstreamOnly, ...own]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
}

function secretVariables(value: unknown): Set<string> {
  if (value instanceof Secret) return new Set("env" in value.reference ? [value.reference.env] : []);
  if (typeof value !== "object" || value === null) return new Set();
  return new Set(Object.values(value).flatMap((member) => [...secretVariables(member)]));
}
