import { isJsonObject } from "../../text/json-object.ts";
import { snakeKey } from "../schema/camel-case.ts";
import { formatPath, type FieldPath } from "../config-error.ts";
import type { Config, UpstreamConfig } from "../schema.ts";
import { Secret } from "../secret.ts";

/**
 * Returns the fields that differ from the running configuration and take effect after a restart: everything
 * but the catalog. Names are those of the file, with upstreams by name: "limits.max_body_bytes",
 * "upstreams.local.path_prefix".
 */
export function findRestartFields(running: Config, next: Config): string[] {
  return Object.keys({ ...running, ...next })
    .filter((key) => key !== "catalog")
    .flatMap((key) => findDifferences(memberOf(running, key), memberOf(next, key), [snakeKey(key)]));
}

function findDifferences(from: unknown, to: unknown, path: FieldPath): string[] {
  if (Object.is(from, to)) return [];
  if (from instanceof Secret || to instanceof Secret) {
    const isSame = from instanceof Secret && to instanceof Secret && from.location === to.location;
    return isSame ? [] : [formatPath(path)];
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    return Array.from({ length: Math.max(from.length, to.length) }).flatMap((_, index) =>
      findDifferences(from[index], to[index], [...path, index]),
    );
  }
  if (!isJsonObject(from) || !isJsonObject(to)) return [formatPath(path)];
  return Object.keys({ ...from, ...to }).flatMap((key) =>
    findDifferences(from[key], to[key], [...path, snakeKey(key)]),
  );
}

/** Returns a section with upstreams by name, with their fields as in the file: their order does not matter. */
function memberOf(config: Config, key: string): unknown {
  if (key !== "upstreams") return (config as unknown as Record<string, unknown>)[key];
  return Object.fromEntries(config.upstreams.map((upstream) => [upstream.name, writtenAs(upstream)]));
}

function writtenAs({ endpoints, credentials, ...rest }: UpstreamConfig): object {
  const isPlain = endpoints.every(({ weight, priority }) => weight === 1 && priority === 0);
  const places = isPlain
    ? { url: endpoints.map(formatUrl).join(" ") }
    : { endpoints: endpoints.map((one) => `${formatUrl(one)} ${one.weight} ${one.priority}`).join(", ") };
  const sent = credentials.map(({ header, prefix, secret }) => `${header}: ${prefix}${secret.location}`);
  return { ...rest, ...places, credential: sent.join("\n") };
}

function formatUrl({ host, port, usesTls }: UpstreamConfig["endpoints"][number]): string {
  return `${usesTls ? "https" : "http"}://${host}:${port}`;
}
