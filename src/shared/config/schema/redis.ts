import { described, list, mapping, orNull, path, secret, text } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { redisUrl } from "./urls.ts";

/**
 * `redis`: one server, a cluster or sentinels. Becomes `mode` and `urls`. check-settings.ts checks that
 * exactly one is given.
 */
export function createRedisSchema(source: SecretSource) {
  return orNull(
    mapping({
      url: redisUrl()
        .optional()
        .describe("`redis://`, `rediss://` (TLS) or `unix:///path`; `/1` at the end: database 1."),
      cluster: described(list(redisUrl(), "Redis URLs", 1).optional(), "Some nodes of a Redis Cluster.", {
        type: "list of URLs",
      }),
      sentinels: described(list(redisUrl(), "Redis URLs", 1).optional(), "Sentinels; with `redis.name`.", {
        type: "list of URLs",
      }),
      name: text("the primary's name").optional().describe("The primary's name at the sentinels."),
      username: orNull(text("a user name")).describe("Redis ACL user."),
      password: orNull(secret(source)).describe("Its password."),
      sentinel_password: orNull(secret(source)).describe("Password of the sentinels."),
      ca_file: described(orNull(path(source)), "Authorities of a `rediss://` server's certificate.", {
        default: "those of Node",
      }),
      cert_file: orNull(path(source)).describe("Client certificate chain for a `rediss://` server."),
      key_file: orNull(path(source)).describe("Its private key."),
    }).transform(({ url, cluster, sentinels, name, ...rest }) => {
      const mode: "single" | "cluster" | "sentinel" =
        cluster === undefined ? (sentinels === undefined ? "single" : "sentinel") : "cluster";
      const urls = cluster ?? sentinels ?? (url === undefined ? [] : [url]);
      return { mode, urls, name: name ?? null, ...rest };
    }),
  );
}
