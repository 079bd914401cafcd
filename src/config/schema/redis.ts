import { described, list, mapping, orNull, path, secret, text } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { redisUrl } from "./urls.ts";

/**
 * `redis`: one server, a cluster or sentinels. Which of the three it is comes out as `mode`, the addresses as `urls`.
 * That exactly one of them is given is checked in cross-checks.ts.
 */
export function createRedisSchema(source: SecretSource) {
  return orNull(
    mapping({
      url: described(redisUrl().optional(), {
        description:
          "One server: `redis://`, with TLS `rediss://`, or `unix:///path`; `/1` behind it for database 1.",
        type: "URL",
      }),
      cluster: described(list(redisUrl(), "Redis URLs", 1).optional(), {
        description: "A Redis Cluster: some of its nodes; the others are found through them.",
        type: "list of URLs",
      }),
      sentinels: described(list(redisUrl(), "Redis URLs", 1).optional(), {
        description: "Sentinels that know which server is the master; with `redis.name`.",
        type: "list of URLs",
      }),
      name: described(text("the master's name").optional(), {
        description: "The master's name at the sentinels.",
        type: "string",
      }),
      username: described(orNull(text("a user name")), {
        description: "Redis ACL user.",
        type: "string",
      }),
      password: described(orNull(secret(source)), { description: "Password of that user.", type: "secret" }),
      sentinel_password: described(orNull(secret(source)), {
        description: "Password of the sentinels, where they have one of their own.",
        type: "secret",
      }),
      ca_file: described(orNull(path(source)), {
        description: "Certificates, PEM, that a `rediss://` server's certificate is checked against.",
        type: "path",
        default: "those of Node",
      }),
      cert_file: described(orNull(path(source)), {
        description:
          "Certificate chain that is shown to a `rediss://` server which asks for one, PEM. This, its key and " +
          "`ca_file` are read anew for each connection, so renewed files count without a restart.",
        type: "path",
      }),
      key_file: described(orNull(path(source)), { description: "Its private key, PEM.", type: "path" }),
    }).transform(({ url, cluster, sentinels, name, ...rest }) => {
      const mode: "single" | "cluster" | "sentinel" =
        cluster === undefined ? (sentinels === undefined ? "single" : "sentinel") : "cluster";
      const urls = cluster ?? sentinels ?? (url === undefined ? [] : [url]);
      return { mode, urls, name: name ?? null, ...rest };
    }),
  );
}
