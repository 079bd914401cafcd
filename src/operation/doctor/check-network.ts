/** Checks of connections to upstreams and their certificates. */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { formatHost } from "../../shared/host/local-url.ts";
import type { Config, UpstreamConfig } from "../../shared/config/schema.ts";
import { type Target, tryConnect } from "../../shared/host/connect.ts";
import { capitalize } from "../../shared/text/capitalize.ts";
import { explainConnectError } from "../../shared/envoy-reasons/connection-reasons.ts";
import { describeReason } from "../../shared/envoy-reasons/reason.ts";
import { FLAGS } from "../../shared/envoy-reasons/response-flags.ts";
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
      `Upstream ${name} at ${where} accepts connections (${(await tryConnect(target)).toFixed(0)} ms).`,
    );
  } catch (error) {
    const reason = explainConnectError(error);
    const isCertificate = reason?.isCertificate ?? false;
    const problem =
      reason === null ? `the upstream ${name} accepts no connection` : describeReason(reason, name);
    return found(isCertificate ? "upstream_untrusted" : "upstream_unreachable", check, {
      message: `${capitalize(problem)} (${where}: ${reasonOf(error)}).`,
      fix: `Requests to its models return 503. ${reason?.todo ?? FLAGS.UF.todo}`,
    });
  }
}
