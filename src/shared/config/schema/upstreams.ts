import { MODEL_SERVER_NAMES } from "../../model-servers/presets.ts";
import {
  choice,
  described,
  flag,
  integer,
  list,
  mapping,
  orNull,
  path,
  sectionOrNull,
  text,
} from "./fields.ts";
import type { SecretSource } from "../secret.ts";
import { createCredentialSchema } from "./upstreams/credentials.ts";
import { forwardedHeader } from "./upstreams/header-name.ts";
import { createPlaceFields } from "./upstreams/endpoints.ts";
import { createAwsSigningSchema, createGoogleRefusal } from "./upstreams/signing.ts";
import { protocols } from "./protocols.ts";
import { parseUpstreamEndpoint } from "./urls.ts";

/** Names that Envoy's configuration uses for other clusters. */
const RESERVED_UPSTREAM_NAMES: readonly string[] = ["sidecar", "sidecar-checks"];

const NAME = text(
  "lower-case letters, digits, `-` and `_`, at most 63, a letter or digit first",
  /^[a-z0-9][a-z0-9_-]{0,62}$/,
).refine((name) => !RESERVED_UPSTREAM_NAMES.includes(name), {
  error: (issue) =>
    `\`${String(issue.input)}\` is the name of a cluster of the gateway itself: choose another`,
});

function createTlsSchema(source: SecretSource) {
  return sectionOrNull({
    ca_file: described(orNull(path(source)), "Authorities of the upstream's certificate.", {
      default: "the system's",
    }),
    server_name: described(
      orNull(text("a host name", /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/)),
      "Name in SNI and in the upstream's certificate.",
      { type: "host name", default: "the URL's host" },
    ),
  });
}

function createConnectionFields() {
  return {
    connect_timeout_seconds: integer(1, 60, "seconds")
      .default(5)
      .describe("Maximum time to open a connection."),
    connection_reuse: flag()
      .default(true)
      .describe("`false` for a server that closes connections unannounced."),
  };
}

/**
 * `upstreams`: the model servers. `url`, `urls` and `endpoints` become `endpoints`, `credential` becomes
 * `credentials`.
 */
export function createUpstreamsSchema(source: SecretSource) {
  const upstream = mapping({
    name: NAME.describe("Name of the upstream and of its Envoy cluster."),
    ...createPlaceFields(),
    path_prefix: text(
      'a path such as `/v1`, without a slash at its end, or ""',
      /^(?:\/[A-Za-z0-9._~%!$&'()*+,;=:@-]+)*$/,
    )
      .default("/v1")
      .describe('Path before `/chat/completions`, `/messages` and `/responses`; `""`: none.'),
    server: described(
      orNull(choice(MODEL_SERVER_NAMES)),
      "Kind of model server, which [sets fields](#what-server-sets).",
    ),
    protocols: protocols()
      .default(["chat"])
      .describe("Protocols of the upstream, which need no translation."),
    credential: createCredentialSchema(source).optional(),
    credentials: described(
      list(createCredentialSchema(source), "credentials", 1).optional(),
      "Several headers with secrets, each as in `credential`.",
      { type: "list of credentials" },
    ),
    forward_headers: described(
      list(forwardedHeader(), "names of headers").default([]),
      "Client headers that pass in addition to those of the [header policy](api.md#header-policy); never ones that give clients further access.",
      { type: "list of header names" },
    ),
    aws_signing: createAwsSigningSchema(source),
    gcp_authn: createGoogleRefusal(),
    tls: createTlsSchema(source),
    ...createConnectionFields(),
  }).transform(({ url, urls, endpoints = [], credential, credentials, ...rest }) => ({
    ...rest,
    credentials: credentials ?? (credential === undefined ? [] : [credential]),
    endpoints: [
      ...(urls ?? (url === undefined ? [] : [url])).map((one) => parseUpstreamEndpoint(one)),
      ...endpoints.map((one) => parseUpstreamEndpoint(one.url, one.weight, one.priority)),
    ],
  }));
  return list(upstream, "upstreams", 1);
}
