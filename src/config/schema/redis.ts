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
          "One server: `redis://`, with TLS `rediss://`, or `unix:///path`; `/1` behind it for database 1.",
        ),
      cluster: described(
        list(redisUrl(), "Redis URLs", 1).optional(),
        "A Redis Cluster: some of its nodes; the others are found through them.",
        { type: "list of URLs" },
      ),
      sentinels: described(
        list(redisUrl(), "Redis URLs", 1).optional(),
        "Sentinels that know which server is the master; with `redis.name`.",
        { type: "list of URLs" },
      ),
      name: text("the master's name").optional().describe("The master's name at the sentinels."),
      username: orNull(text("a user name")).describe("Redis ACL user."),
      password: orNull(secret(source)).describe("Password of that user."),
      sentinel_password: orNull(secret(source)).describe(
        "Password of the sentinels, where they have one of their own.",
      ),
      ca_file: described(
        orNull(path(source)),
        "Certificates, PEM, that a `rediss://` server's certificate is checked against.",
        { default: "those of Node" },
      ),
      cert_file: orNull(path(source)).describe(
        "Certificate chain that is shown to a `rediss://` server which asks for one, PEM. This, its key and " +
          "`ca_file` are read again for each connection, so renewed files count without a restart.",
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
