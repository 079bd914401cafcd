import * as z from "zod";

import {
  choice,
  described,
  flag,
  host,
  integer,
  mapping,
  orNull,
  path,
  port,
  secret,
  section,
  sectionOrNull,
} from "./fields.ts";
import type { SecretSource } from "../secret.ts";

/** The most workers: keeps the names of their sockets short. */
const MAX_WORKERS = 256;

/** `listen`: where Envoy takes the clients' requests, in the clear or over TLS. */
export function createListenSchema(source: SecretSource) {
  return section({
    host: host()
      .default("127.0.0.1")
      .describe("Address on which Envoy takes requests; `0.0.0.0` or `::` for all."),
    port: port().default(10_000).describe("Port on which Envoy takes requests; 0 takes a free one."),
    tls: sectionOrNull({
      cert_file: path(source).describe(
        "Certificate chain of the public listener, PEM. A renewed file takes effect at once.",
      ),
      key_file: path(source).describe("Its private key, PEM."),
      client_ca_file: orNull(path(source)).describe(
        "Clients must show a certificate of these authorities, PEM.",
      ),
    }),
  });
}

/** `admin`: dashboard, management API and metrics. */
export function createAdminSchema(source: SecretSource) {
  return section({
    host: host()
      .default("127.0.0.1")
      .describe(
        "Address of the dashboard and the management API. Off loopback only with `admin.tls` or " +
          "`admin.allow_plain_http`.",
      ),
    port: port()
      .default(10_001)
      .describe("Port of the dashboard and the management API; 0 takes a free one."),
    health_port: orNull(port()).describe(
      "Separate port for only `/healthz` and `/readyz`, on `admin.host`, unencrypted. Load on `admin.port` doesn't delay it.",
    ),
    operator_token: described(
      orNull(secret(source)),
      "Token of the operator, who can do everything on the management API.",
      { default: "made on the first run, kept in `data_dir` and printed" },
    ),
    tls: sectionOrNull({
      cert_file: path(source).describe("Certificate chain of the admin server, PEM."),
      key_file: path(source).describe("Its private key, PEM."),
    }),
    allow_plain_http: flag()
      .default(false)
      .describe(
        "Allows an `admin.host` off loopback without TLS, if something in front of it (an ingress, a mesh) encrypts.",
      ),
  });
}

/** `sidecar.tls`: both sides of the connection between Envoy and the workers show a certificate. */
function createSidecarTlsSchema(source: SecretSource) {
  const pem = (description: string) => path(source).describe(description);
  return mapping({
    ca_file: pem(
      "Authorities of both sides' certificates, PEM. Renewed files take effect without a restart, here and below.",
    ),
    server_cert_file: pem("The workers' certificate chain, PEM. Only needed on the workers' host."),
    server_key_file: pem("Its private key, PEM."),
    server_name: described(
      orNull(host()),
      "Name or address that Envoy requires in the workers' certificate.",
      { default: "where Envoy finds the workers" },
    ),
    client_cert_file: pem("Envoy's certificate chain, PEM. Only needed on Envoy's host."),
    client_key_file: pem("Its private key, PEM."),
    client_name: orNull(host()).describe(
      "Name that the workers require in Envoy's certificate; without it, any certificate of `ca_file`.",
    ),
  });
}

/** `sidecar`: the gRPC workers behind Envoy. */
export function createSidecarSchema(source: SecretSource) {
  const expectation = `expected \`auto\` or a whole number from 1 to ${MAX_WORKERS}`;
  return section({
    workers: described(
      z.union([z.literal("auto"), integer(1, MAX_WORKERS)], { error: expectation }).default("auto"),
      "Worker processes. `auto`: half the cores, at least one. With 1, by a Unix socket, requests wait for Redis [beside Envoy's next call](internals/envoy.md#optimistic-admission).",
      { type: `\`auto\` or integer, 1 to ${MAX_WORKERS}` },
    ),
    sockets: path(source)
      .prefault("run")
      .describe(
        "Directory for Unix sockets: one per worker, Envoy's admin interface, a private Redis. Only one gateway can use it. The longest socket path can have 107 bytes.",
      ),
    tcp: sectionOrNull({
      host: host().describe(
        "Workers listen here instead of on Unix sockets, for an Envoy in another container.",
      ),
      port: integer(1, 65_535 - MAX_WORKERS).describe(
        "Port of the first worker; worker *i* takes this one plus *i*.",
      ),
      allow_plaintext: flag()
        .default(false)
        .describe(
          "Allows `sidecar.tcp` without `sidecar.tls`, also on loopback. Only if a mesh encrypts the connection, or everything that reaches it is trusted: it carries keys and prompts, and can spend in any key's name.",
        ),
    }),
    tls: orNull(createSidecarTlsSchema(source)),
    transport: choice(["wire", "grpc-js"], { http2: "wire" })
      .default("wire")
      .describe("gRPC server implementation: our own on plain sockets, or the grpc-js library."),
  });
}
