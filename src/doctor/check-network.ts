/** Upstreams: connections and certificates. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { formatHost } from "../local-url.ts";
import type { Config, UpstreamConfig } from "../config/schema.ts";
import { ConnectTimeoutError, type Target, tryConnect } from "../connect.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";

export async function checkUpstreams({ upstreams }: Config): Promise<DoctorFinding[]> {
  const all = await Promise.all(
    upstreams.map((upstream) =>
      Promise.all(upstream.endpoints.map((endpoint) => checkEndpoint(upstream, endpoint))),
    ),
  );
  return all.flat();
}

async function checkEndpoint(
  { name, tls, pathPrefix }: UpstreamConfig,
  { host, port, usesTls }: UpstreamConfig["endpoints"][number],
): Promise<DoctorFinding> {
  const check = `upstream.${name}`;
  const serverName = tls?.serverName ?? (isIP(host) === 0 ? host : null);
  const caFile = tls?.caFile ?? null;
  const authority = `${formatHost(host)}:${port}`;
  const where = `${usesTls ? "https" : "http"}://${authority}${pathPrefix}`;
  try {
    const ca = caFile === null ? {} : { ca: readFileSync(caFile, "utf8") };
    const target: Target = {
      address: { host, port },
      ...(usesTls ? { tls: { serverName, ...ca } } : {}),
    };
    return ok(
      check,
      `Upstream ${name} at ${where} takes connections (${(await tryConnect(target)).toFixed(0)} ms).`,
    );
  } catch (error) {
    if (isCertificateError(error)) {
      const message = `upstream ${name}: certificate refused at ${where}: ${reasonOf(error)}`;
      const fix =
        "Requests to its models are answered 503. Renew its certificate, or correct `tls.server_name` " +
        "or `tls.ca_file`.";
      return found("upstream_untrusted", check, { message, fix });
    }
    const message = `upstream ${name}: ${explainFailure(error, host)} at ${where}`;
    const fix =
      "Requests to its models are answered 503. Start the model server, or correct the URL; look at " +
      "network rules between here and there.";
    return found("upstream_unreachable", check, { message, fix });
  }
}

/** In words, where it is one of the common ones. */
function explainFailure(error: unknown, host: string): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { code } = first as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "connection refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `no address for the name ${host}`;
  return first instanceof ConnectTimeoutError ? first.message : `no connection (${reasonOf(first)})`;
}

/** Codes of Node's TLS and of OpenSSL's X.509 checks: expired, for another name, of an unknown authority. */
function isCertificateError(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return (
    code === "ERR_TLS_CERT_ALTNAME_INVALID" || /CERT|SIGNED|UNABLE_TO|CRL|PATH_LENGTH|PURPOSE/.test(code)
  );
}
