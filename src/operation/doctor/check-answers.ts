/** Checks for upstream errors that only the operator can resolve. */
import type { Config } from "../../shared/config/schema.ts";
import { type DoctorFinding, type FindingCode, found, ok, reasonOf, skipped } from "./finding.ts";
import type { Sample } from "../../shared/telemetry/samples.ts";
import { readSamples } from "./read-metrics.ts";

const CHECK = "upstreams.answers";

interface Refusal {
  readonly finding: FindingCode;
  readonly text: string;
  readonly fix: string;
}

/** Errors by the code that clients get. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  upstream_model_not_found: {
    finding: "upstream_model_unknown",
    text: "with 404 (unknown model or path)",
    fix: "Compare `catalog[].upstream_model` with the names that the server lists, and the upstream's `url` and `path_prefix` with the server's address",
  },
  upstream_authentication_failed: {
    finding: "upstream_refuses_account",
    text: "because of the gateway's account (credential, balance or permissions)",
    fix: "Renew the upstream's credential, or check the account at the model provider",
  },
};

/** Reads the running gateway's metrics, in which workers report upstream errors. */
export async function checkAnswers(config: Config): Promise<DoctorFinding[]> {
  let samples: readonly Sample[];
  try {
    samples = await readSamples(config, "inference_gateway_requests_total");
  } catch (error) {
    return [skipped(CHECK, `Upstreams' responses are unknown: ${reasonOf(error)}.`)];
  }
  const findings = Object.entries(REFUSALS).flatMap(([code, refusal]) =>
    config.catalog.flatMap(({ id, upstream, upstreamModel }) => {
      const ofModel = samples.filter(({ labels }) => labels["code"] === code && labels["model"] === id);
      const times = ofModel.reduce((sum, { value }) => sum + value, 0);
      if (times === 0) return [];
      const message = `${id} (\`${upstreamModel}\` at ${upstream}): the server rejected ${times} ${times === 1 ? "request" : "requests"} ${refusal.text}.`;
      const fix = `${refusal.fix}. The log has the server's message (\`upstream failed\`); the count resets when the workers restart.`;
      return [found(refusal.finding, CHECK, { message, fix })];
    }),
  );
  return findings.length > 0
    ? findings
    : [ok(CHECK, "No upstream has rejected a model or the gateway's account.")];
}
