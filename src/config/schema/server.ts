import { z } from "zod";

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
} from "./fields.ts";
import type { SecretSource } from "../secret.ts";

/** The most workers: keeps the names of their sockets short. */
const MAX_WORKERS = 256;

/** `listen`: where Envoy takes the clients' requests, in the clear or over TLS. */
export function createListenSchema(source: SecretSource) {
  return section(
    mapping({
      host: described(host().default("127.0.0.1"), {
        description: "Address on which Envoy takes requests; `0.0.0.0` or `::` for all.",
        type: "host name or IP address",
      }),
      port: described(port().default(10_000), {
        description: "Port on which Envoy takes requests; 0 takes a free one.",
        type: "integer, 0 to 65535",
      }),
      tls: orNull(
        mapping({
          cert_file: described(path(source), {
            description: "Certificate chain of the public listener, PEM. A renewed file counts at once.",
            type: "path",
          }),
          key_file: described(path(source), { description: "Its private key, PEM.", type: "path" }),
          client_ca_file: described(orNull(path(source)), {
            description: "Clients must show a certificate of these authorities, PEM.",
            type: "path",
          }),
        }),
      ),
    }),
  );
}

/** `admin`: dashboard, management API and metrics. */
export function createAdminSchema(source: SecretSource) {
  return section(
    mapping({
      host: described(host().default("127.0.0.1"), {
        description:
          "Address of the dashboard and the management API. Off loopback only with `admin.tls` or " +
          "`admin.allow_plain_http`.",
        type: "host name or IP address",
      }),
      port: described(port().default(10_001), {
        description: "Port of the dashboard and the management API; 0 takes a free one.",
        type: "integer, 0 to 65535",
      }),
      operator_token: described(orNull(secret(source)), {
        description: "Token of the operator, who may do everything on the management API.",
        type: "secret",
        default: "made on the first run, kept in `data_dir` and printed",
      }),
      tls: orNull(
        mapping({
          cert_file: described(path(source), {
            description: "Certificate chain of the admin server, PEM.",
            type: "path",
          }),
          key_file: described(path(source), { description: "Its private key, PEM.", type: "path" }),
        }),
      ),
      allow_plain_http: described(flag().default(false), {
        description:
          "Allows an `admin.host` off loopback without TLS, where something in front of it (an ingress, a mesh) " +
          "encrypts.",
        type: "boolean",
      }),
    }),
  );
}

/** `sidecar.tls`: both sides of the connection between Envoy and the workers show a certificate. */
function createSidecarTlsSchema(source: SecretSource) {
  const pem = (description: string) => described(path(source), { description, type: "path" });
  return mapping({
    ca_file: pem(
      "Authorities of both sides' certificates, PEM. Renewed files count without a restart, here and below.",
    ),
    server_cert_file: pem("The workers' certificate chain, PEM. Only needed where they run."),
    server_key_file: pem("Its private key, PEM."),
    server_name: described(orNull(host()), {
      description: "Name or address that Envoy demands of the workers' certificate.",
      type: "host name or IP address",
      default: "where Envoy finds the workers",
    }),
    client_cert_file: pem("Envoy's certificate chain, PEM. Only needed where Envoy runs."),
    client_key_file: pem("Its private key, PEM."),
    client_name: described(orNull(host()), {
      description: "Name that the workers demand of Envoy's certificate; left out, any of `ca_file` will do.",
      type: "host name or IP address",
    }),
  });
}

/** `sidecar`: the gRPC workers behind Envoy. */
export function createSidecarSchema(source: SecretSource) {
  const expectation = `expected \`auto\` or a whole number from 1 to ${MAX_WORKERS}`;
  return section(
    mapping({
      workers: described(
        z.union([z.literal("auto"), integer(1, MAX_WORKERS)], { error: expectation }).default("auto"),
        {
          description: "Worker processes. `auto`: half the cores, at least one.",
          type: `\`auto\` or integer, 1 to ${MAX_WORKERS}`,
        },
      ),
      sockets: described(path(source).prefault("run"), {
        description:
          "Folder for Unix sockets: one per worker, Envoy's admin interface, a private Redis. The longest socket " +
          "path in it may have 107 bytes.",
        type: "path",
      }),
      tcp: orNull(
        mapping({
          host: described(host(), {
            description: "Workers listen here instead of on Unix sockets, for an Envoy in another container.",
            type: "host name or IP address",
          }),
          port: described(integer(1, 65_535 - MAX_WORKERS), {
            description: "Port of the first worker; worker *i* takes this one plus *i*.",
            type: `integer, 1 to ${65_535 - MAX_WORKERS}`,
          }),
          allow_plaintext: described(flag().default(false), {
            description:
              "Allows a `sidecar.tcp.host` off loopback without `sidecar.tls`, where a mesh encrypts the connection. It " +
              "carries keys and prompts, and whoever reaches it can spend in anybody's name.",
            type: "boolean",
          }),
        }),
      ),
      tls: orNull(createSidecarTlsSchema(source)),
      transport: described(choice(["wire", "grpc-js"], { http2: "wire" }).default("wire"), {
        description: "gRPC server implementation: our own on plain sockets, or the grpc-js library.",
        type: "`wire` or `grpc-js`",
      }),
    }),
  );
}
