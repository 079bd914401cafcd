/** Checks whether chat templates of upstreams exceed the configured overhead. */
import type { Config } from "../../shared/config/schema.ts";
import { type DoctorFinding, found, ok, reasonOf, skipped } from "./finding.ts";
import type { Sample } from "../../shared/telemetry/samples.ts";
import { readSamples } from "./read-metrics.ts";

const CHECK = "catalog.prompt_overhead";

/** Reads the running gateway's metrics, in which workers report templates. */
export async function checkTemplates(config: Config): Promise<DoctorFinding[]> {
  let samples: readonly Sample[];
  try {
    samples = await readSamples(config, "inference_gateway_prompt_overhead_seen_tokens");
  } catch (error) {
    return [skipped(CHECK, `Chat templates are unknown: ${reasonOf(error)}.`)];
  }
  const findings = config.catalog.flatMap((entry) =>
    samples
      .filter(({ labels }) => labels["model"] === entry.id)
      .flatMap(({ labels, value }) => {
        const hasTools = labels["tools"] === "true";
        const configured = hasTools ? entry.promptOverheadTokensWithTools : entry.promptOverheadTokens;
        return judge({ model: entry.id, hasTools, tokens: value }, configured);
      }),
  );
  return findings.length > 0
    ? findings
    : [ok(CHECK, "No request has shown a larger chat template than configured.")];
}

interface Seen {
  readonly model: string;
  readonly hasTools: boolean;
  readonly tokens: number;
}

function judge({ model, hasTools, tokens }: Seen, configured: number): DoctorFinding[] {
  if (tokens <= configured) return [];
  const field = hasTools ? "prompt_overhead_tokens_with_tools" : "prompt_overhead_tokens";
  const message = `${model}: the upstream's chat template took ${tokens} tokens in addition to the prompt, but \`${field}\` is ${configured}.`;
  const fix = `Set \`${field}\` of this model to ${tokens} or more: until then a new worker can exceed a strict cap.`;
  return [found("prompt_overhead_exceeded", CHECK, { message, fix })];
}
