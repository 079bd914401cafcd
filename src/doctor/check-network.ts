/** Upstreams, and the gateway's own public address. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { Config, UpstreamConfig } from "../config/schema.ts";
import { type Target, tryConnect } from "./connect.ts";
import { type Finding, found, ok, reasonOf } from "./finding.ts";

const TIMEOUT_MS = 5_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

export async function checkUpstreams({ upstreams }: Config): Promise<Finding[]> {
  const all = await Promise.all(
    upstreams.map((upstream) =>
      Promise.all(upstream.endpoints.map((endpoint) => checkEndpoint(upstream, endpoint))),
    ),
  );
  return all.flat();
}

async function checkEndpoint(
  { name, tls }: UpstreamConfig,
  { host, port, usesTls }: UpstreamConfig["endpoints"][number],
): Promise<Finding> {
  const check = `upstream.${name}`;
  const serverName = tls?.serverName ?? (isIP(host) === 0 ? host : null);
  const caFile = tls?.caFile ?? null;
  const where = `${usesTls ? "https" : "http"}://${host}:${port}`;
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
      const what = `Upstream ${name} at ${where} shows a certificate that is refused: ${reasonOf(error)}.`;
      const todo =
        "Requests to its models are answered 503 `model_starting`. Renew its certificate, or correct `tls.server_name` " +
        "or `tls.ca_file`.";
      return found("upstream_untrusted", check, { what, todo });
    }
    const what = `Upstream ${name} at ${where} does not take connections: ${reasonOf(error)}.`;
    const todo =
      "Requests to its models are answered 503 `model_starting`. Start the model server, or correct the URL; look at " +
      "network rules between here and there.";
    return found("upstream_unreachable", check, { what, todo });
  }
}

/** Codes of Node's TLS and of OpenSSL's X.509 checks: expired, for another name, of an unknown authority. */
function isCertificateError(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return (
    code === "ERR_TLS_CERT_ALTNAME_INVALID" || /CERT|SIGNED|UNABLE_TO|CRL|PATH_LENGTH|PURPOSE/.test(code)
  );
}

/** Does the address that pages and mails name lead here. */
export async function checkPublicUrl(config: Config): Promise<Finding[]> {
  const check = "public_base_url";
  const { publicBaseUrl, notifications } = config;
  if (publicBaseUrl === null) {
    if (notifications.smtp === null) return [ok(check, "Not set; nothing is sent that names it.")];
    const todo = "Set `public_base_url`, so that the links in mails lead somewhere.";
    const what = "Mails are configured, and `public_base_url` is not set.";
    return [found("public_url_missing", check, { what, todo })];
  }
  const isOpen = publicBaseUrl.startsWith("http:") && !LOOPBACK.test(new URL(publicBaseUrl).hostname);
  if (isOpen) {
    const todo = "Put TLS in front of the gateway and write `https://…`: keys would travel in the clear.";
    return [found("public_url_unencrypted", check, { what: `${publicBaseUrl} is not encrypted.`, todo })];
  }
  try {
    const { status } = await fetch(`${publicBaseUrl}/healthz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (status === 200) return [ok(check, `${publicBaseUrl} leads to the gateway.`)];
    const todo = "See that the load balancer passes every path to Envoy's listener.";
    const what = `${publicBaseUrl}/healthz answers ${status}.`;
    return [found("public_url_elsewhere", check, { what, todo })];
  } catch (error) {
    const reason =
      error instanceof Error && error.cause !== undefined ? reasonOf(error.cause) : reasonOf(error);
    const todo =
      "Look at DNS, load balancer and certificate; from inside the cluster the name may lead elsewhere.";
    const what = `${publicBaseUrl} cannot be reached: ${reason}.`;
    return [found("public_url_unreachable", check, { what, todo })];
  }
}
