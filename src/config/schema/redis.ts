import { described, list, mapping, orNull, path, secret, text } from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { redisUrl } from "./urls.ts";

/**
 * `redis`: one server, a cluster or sentinels. Which of the three it is comes out as `mode`, the addresses as `urls`.
 * That exactly one of them is given is checked in check-settings.ts.
 */
export function createRedisSchema(source: SecretSource) {
  return orNull(
    mapping({
      url: redisUrl()
        .optional()
        .describe(
          "One server: `redis://`, with TLS `rediss://`, or `unix:///path`; with `/1` at the end for database 1.",
        ),
      cluster: described(
        list(redisUrl(), "Redis URLs", 1).optional(),
        "A Redis Cluster: some of its nodes; the others are found through them.",
        { type: "list of URLs" },
      ),
      sentinels: described(
        list(redisUrl(), "Redis URLs", 1).optional(),
        "Sentinels that know which server is the primary; with `redis.name`.",
        { type: "list of URLs" },
      ),
      name: text("the master's name").optional().describe("The primary's name at the sentinels."),
      username: orNull(text("a user name")).describe("Redis ACL user."),
      password: orNull(secret(source)).describe("Password of that user."),
      sentinel_password: orNull(secret(source)).describe(
        "Password of the sentinels, if they have a separate one.",
      ),
      ca_file: described(
        orNull(path(source)),
        "Certificates, PEM, that a `rediss://` server's certificate is checked against.",
        { default: "those of Node" },
      ),
      cert_file: orNull(path(source)).describe(
        "Client certificate chain for a `rediss://` server, PEM. It, its key and `ca_file` are read for each connection, so that renewed files need no restart.",
      ),
      key_file: orNull(path(source)).describe("Its private key, PEM."),
    }).transform(({ url, cluster, sentinels, name, ...rest }) => {
      const mode: "single" | "cluster" | "sentinel" =
        cluster === undefined ? (sentinels === undefined ? "single" : "sentinel") : "cluster";
      const urls = cluster ?? sentinels ?? (url === undefined ? [] : [url]);
      return { mode, urls, name: name ?? null, ...rest };
    }),
  );
}
