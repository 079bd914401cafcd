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

/** Maximum number of workers, which keeps the names of their sockets short. */
const MAX_WORKERS = 256;

/** `listen`: address for clients' requests to Envoy, plain or TLS. */
export function createListenSchema(source: SecretSource) {
  return section({
    host: host().default("127.0.0.1").describe("Address of the API; `0.0.0.0` or `::`: all."),
    port: port().default(10_000).describe("Port of the API; 0: a free one."),
    tls: sectionOrNull({
      cert_file: path(source).describe("Certificate chain of the API."),
      key_file: path(source).describe("Its private key."),
      client_ca_file: orNull(path(source)).describe(
        "Authorities of client certificates, which are then required.",
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
        "Address of dashboard and management API; off loopback only with `admin.tls` or `admin.allow_plain_http`.",
      ),
    port: port().default(10_001).describe("Their port; 0: a free one."),
    health_port: orNull(port()).describe("Separate, unencrypted port for `/healthz` and `/readyz`."),
    operator_token: described(orNull(secret(source)), "Token of the operator, who can do everything.", {
      default: "created in `data_dir` and printed",
    }),
    tls: sectionOrNull({
      cert_file: path(source).describe("Certificate chain of the admin port."),
      key_file: path(source).describe("Its private key."),
    }),
    allow_plain_http: flag()
      .default(false)
      .describe("Allows `admin.host` off loopback without TLS, if an ingress or mesh encrypts."),
  });
}

/** `sidecar.tls`: mutual TLS between Envoy and the workers. */
function createSidecarTlsSchema(source: SecretSource) {
  const pem = (description: string) => path(source).describe(description);
  return mapping({
    ca_file: pem("Authorities of both sides' certificates."),
    server_cert_file: pem("The workers' certificate chain; only on their host."),
    server_key_file: pem("Its private key."),
    server_name: described(orNull(host()), "Name that Envoy requires in the workers' certificate.", {
      default: "where Envoy finds the workers",
    }),
    client_cert_file: pem("Envoy's certificate chain; only on its host."),
    client_key_file: pem("Its private key."),
    client_name: orNull(host()).describe(
      "Name that the workers require in Envoy's certificate; none: any of `ca_file`.",
    ),
  });
}

/** `sidecar`: the gRPC workers that Envoy calls. */
export function createSidecarSchema(source: SecretSource) {
  const expectation = `expected \`auto\` or a whole number from 1 to ${MAX_WORKERS}`;
  return section({
    workers: described(
      z.union([z.literal("auto"), integer(1, MAX_WORKERS)], { error: expectation }).default("auto"),
      "Worker processes; `auto`: half the cores.",
      { type: `\`auto\` or 1 to ${MAX_WORKERS}` },
    ),
    sockets: path(source)
      .prefault("run")
      .describe("Directory for Unix sockets, of one gateway only; socket paths have at most 107 bytes."),
    tcp: sectionOrNull({
      host: host().describe("Address of the workers, for an Envoy in another container."),
      port: integer(1, 65_535 - MAX_WORKERS).describe("Port of the first worker; the others follow."),
      allow_plaintext: flag()
        .default(false)
        .describe(
          "Allows `sidecar.tcp` without `sidecar.tls`, if a mesh encrypts or you trust everything that reaches the port: it can spend with any key.",
        ),
    }),
    tls: orNull(createSidecarTlsSchema(source)),
    transport: choice(["wire", "grpc-js"], { http2: "wire" })
      .default("wire")
      .describe("gRPC server: our own, or the grpc-js library."),
  });
}
