import type { Model } from "../../catalog/catalog.ts";
import type { Admission } from "../../limits/admission.ts";
import type { ClientRequest } from "../../translation/client-protocol.ts";
import { MAX_BYTES_TO_LEARN_OVERHEAD } from "./learned-overhead.ts";
import { subjectOf, type TokenEstimator } from "./token-estimator.ts";
import { configuredOverheadTokens } from "./worst-case.ts";

/** Prompts of a model whose chat template took more tokens than `gateway.yaml` says. */
export interface ExceededOverhead {
  readonly model: string;
  readonly hasTools: boolean;
  readonly prompts: number;
  /** The most tokens that one of them had beyond its bytes. */
  readonly tokens: number;
}

export interface WatchedRequest {
  readonly admission: Admission;
  readonly model: Model;
  readonly request: ClientRequest;
  readonly upstream: { readonly byteLength: number };
}

/** Bytes of text for each of the conversation's ink; where there are more, a schema may be among them, which no model reads. */
const MOST_TEXT_PER_INK = 2;

/** Watches what chat templates add to prompts, which only upstreams can tell: strict caps must hold it beforehand. */
export class TemplateWatch {
  readonly #estimator: Pick<TokenEstimator, "learnOverhead">;
  /** By model and whether there were tools. */
  readonly #exceeded = new Map<string, ExceededOverhead>();

  constructor(estimator: Pick<TokenEstimator, "learnOverhead">) {
    this.#estimator = estimator;
  }

  /** Where more was taken than is configured. */
  get exceeded(): readonly ExceededOverhead[] {
    return [...this.#exceeded.values()];
  }

  /**
   * What is done with the prompt's tokens once the upstream has told them: learns the template's, and counts prompts
   * whose template was larger than configured. Nothing where their bytes could not say it.
   */
  watch({ admission, model, request, upstream }: WatchedRequest): ((promptTokens: number) => void) | null {
    const upstreamBytes = upstream.byteLength;
    // Measuring is not for free, and long texts hide a template.
    if (!admission.isStrict && upstreamBytes > MAX_BYTES_TO_LEARN_OVERHEAD) return null;
    const { hasMedia, hasTools, messages, isWhole, textBytes, visibleTextBytes } = request.promptSize();
    // No chat template stands around prompts and texts that are no messages; and what the model's server adds (a search,
    // a tool of its own, a stored file) is no template.
    if (hasMedia || messages === 0 || !isWhole) return null;
    const subject = subjectOf(admission, model);
    const conversationBytes = visibleTextBytes * MOST_TEXT_PER_INK >= textBytes ? textBytes : null;
    const configured = configuredOverheadTokens(model, hasTools);
    return (promptTokens) => {
      this.#estimator.learnOverhead(subject, { upstreamBytes, conversationBytes, hasTools, promptTokens });
      const tokens = promptTokens - upstreamBytes;
      if (tokens > configured) this.#count({ model: model.id, hasTools, prompts: 1, tokens });
    };
  }

  #count(seen: ExceededOverhead): void {
    const name = `${seen.hasTools ? "tools" : "plain"} ${seen.model}`;
    const before = this.#exceeded.get(name) ?? { prompts: 0, tokens: 0 };
    const tokens = Math.max(before.tokens, seen.tokens);
    this.#exceeded.set(name, { ...seen, prompts: before.prompts + 1, tokens });
  }
}
