/** Chat templates: whether upstreams have shown one that takes more tokens than the configuration says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
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

async function fetchPage(url: string, token: string | null): Promise<string> {
  const answer = await fetch(url, {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    // A redirect would take the token elsewhere.
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.ok) return answer.text();
  await answer.body?.cancel();
  throw new Error(`status ${answer.status}`);
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
