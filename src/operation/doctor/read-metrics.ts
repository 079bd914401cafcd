/** Reads the running gateway's metrics, the only source of workers' observations. */
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { get as getTls } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Config } from "../../shared/config/schema.ts";
import { formatLocalUrl } from "../../shared/host/local-url.ts";
import { parseSamples, type Sample } from "../../shared/telemetry/samples.ts";
import { reasonOf } from "./finding.ts";

const TIMEOUT_MS = 5_000;

/**
 * Returns the samples of one metric.
 * @throws Error that says where the page was expected and why it is missing.
 */
export async function readSamples(config: Config, name: string): Promise<readonly Sample[]> {
  const { host, port, tls } = config.admin;
  const url = `${formatLocalUrl(host, port, tls === null ? "http" : "https")}/metrics`;
  try {
    return parseSamples(await fetchPage(url, readToken(config)), name);
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new Error(`${url} returned no metrics (${reasonOf(reason)})`, { cause: error });
  }
}

/** Uses the plain client, which is loaded anyway: loading `fetch` takes longer than the request. */
function fetchPage(url: string, token: string | null): Promise<string> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const options = { headers, agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) };
  return new Promise((resolve, reject) => {
    const onResponse = (response: IncomingMessage): void => {
      // Redirects are not followed: they would send the token elsewhere.
      if (response.statusCode !== 200) call.destroy(new Error(`status ${response.statusCode}`));
      else void text(response).then(resolve, reject);
    };
    const call = url.startsWith("https:") ? getTls(url, options, onResponse) : get(url, options, onResponse);
    call.once("error", reject);
  });
}

/** Returns the configured token, otherwise the operator's, which is in `data_dir` if not configured. */
function readToken({ telemetry, admin, dataDir }: Config): string | null {
  const configured = telemetry.metricsToken ?? admin.operatorToken;
  if (configured !== null) return configured.reveal();
  try {
    return readFileSync(join(dataDir, "operator-token"), "utf8").trim();
  } catch {
    // Not needed on loopback.
    return null;
  }
}
