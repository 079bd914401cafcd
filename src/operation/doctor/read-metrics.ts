/** The running gateway's metrics: what its workers have seen, which nobody else knows. */
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { get as getTls } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Config } from "../../shared/config/schema.ts";
import { formatLocalUrl } from "../../shared/host/local-url.ts";
import { reasonOf } from "./finding.ts";

const TIMEOUT_MS = 5_000;

/** A line of the page, or all of them of one name. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The samples of one metric.
 * @throws Error that says where there is no page, and why.
 */
export async function readSamples(config: Config, name: string): Promise<readonly Sample[]> {
  const { host, port, tls } = config.admin;
  const url = `${formatLocalUrl(host, port, tls === null ? "http" : "https")}/metrics`;
  try {
    return parseSamples(await fetchPage(url, readToken(config)), name);
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new Error(`${url} gives no metrics (${reasonOf(reason)})`, { cause: error });
  }
}

/** By the plain client, which this process has loaded anyway: to load `fetch` for one page takes longer than to look at it. */
function fetchPage(url: string, token: string | null): Promise<string> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const options = { headers, agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) };
  return new Promise((resolve, reject) => {
    const onResponse = (response: IncomingMessage): void => {
      // A redirect, which would take the token elsewhere, is not followed.
      if (response.statusCode !== 200) call.destroy(new Error(`status ${response.statusCode}`));
      else void text(response).then(resolve, reject);
    };
    const call = url.startsWith("https:") ? getTls(url, options, onResponse) : get(url, options, onResponse);
    call.once("error", reject);
  });
}

/** The configured one, else the operator's, which the gateway keeps in `data_dir` where it is not configured. */
function readToken({ telemetry, admin, dataDir }: Config): string | null {
  const configured = telemetry.metricsToken ?? admin.operatorToken;
  if (configured !== null) return configured.reveal();
  try {
    return readFileSync(join(dataDir, "operator-token"), "utf8").trim();
  } catch {
    // On loopback none is needed.
    return null;
  }
}

function parseSamples(page: string, name: string): Sample[] {
  return page.split("\n").flatMap((line) => {
    const [, labels, value] = new RegExp(`^${name}\\{([^}]*)\\} (\\d+)$`).exec(line) ?? [];
    return labels === undefined ? [] : [{ labels: parseLabels(labels), value: Number(value) }];
  });
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/(\w+)="([^"]*)"/g), ([, name = "", value = ""]) => [name, value]),
  );
}
