/** Chat templates: whether upstreams have shown one that takes more tokens than the configuration says. */
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { get as getTls } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Config } from "../config/schema.ts";
import { formatLocalUrl } from "../local-url.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";

const TIMEOUT_MS = 5_000;
const CHECK = "catalog.prompt_overhead";
/** A sample of the gauge that workers keep of it. */
const SAMPLE = /^inference_gateway_prompt_overhead_seen_tokens\{([^}]*)\} (\d+)$/gm;

interface Seen {
  readonly model: string;
  readonly hasTools: boolean;
  readonly tokens: number;
}

/** Asks the running gateway's metrics: who has seen the templates are its workers. */
export async function checkTemplates(config: Config): Promise<DoctorFinding[]> {
  const { host, port, tls } = config.admin;
  const url = `${formatLocalUrl(host, port, tls === null ? "http" : "https")}/metrics`;
  let page: string;
  try {
    page = await fetchPage(url, readToken(config));
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return [ok(CHECK, `No template could be looked at: ${url} gives no metrics (${reasonOf(reason)}).`)];
  }
  const findings = config.catalog.flatMap((entry) =>
    parseSeen(page)
      .filter(({ model }) => model === entry.id)
      .flatMap((seen) =>
        judge(seen, seen.hasTools ? entry.promptOverheadTokensWithTools : entry.promptOverheadTokens),
      ),
  );
  return findings.length > 0
    ? findings
    : [ok(CHECK, "No chat template has been seen to be larger than configured.")];
}

function judge({ model, hasTools, tokens }: Seen, configured: number): DoctorFinding[] {
  if (tokens <= configured) return [];
  const field = hasTools ? "prompt_overhead_tokens_with_tools" : "prompt_overhead_tokens";
  const message = `${model}: the upstream's chat template has taken ${tokens} tokens beyond the bytes of a prompt, and \`${field}\` is ${configured}.`;
  const fix = `Set \`${field}\` of this model to ${tokens} or more: a worker that has not seen it yet lets a strict cap be passed.`;
  return [found("prompt_overhead_exceeded", CHECK, { message, fix })];
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

function parseSeen(page: string): Seen[] {
  return Array.from(page.matchAll(SAMPLE), ([, labels = "", value = ""]) => ({
    model: /\bmodel="([^"]*)"/.exec(labels)?.[1] ?? "",
    hasTools: /\btools="true"/.test(labels),
    tokens: Number(value),
  }));
}
