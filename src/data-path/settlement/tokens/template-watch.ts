import type { Model } from "../../catalog/catalog.ts";
import type { Admission } from "../../limits/admission.ts";
import type { ClientRequest } from "../../translation/client-protocol.ts";
import { MAX_BYTES_TO_LEARN_OVERHEAD } from "./learned-overhead.ts";
import { subjectOf, type TokenEstimator } from "./token-estimator.ts";
import { configuredOverheadTokens } from "./worst-case.ts";

/** Number of prompts of a model whose chat template exceeded the overhead in `gateway.yaml`, and the largest excess. */
export interface ExceededOverhead {
  readonly model: string;
  readonly hasTools: boolean;
  readonly prompts: number;
  /** Largest number of tokens that a prompt had beyond its bytes. */
  readonly tokens: number;
}

export interface WatchedRequest {
  readonly admission: Admission;
  readonly model: Model;
  readonly request: ClientRequest;
  readonly upstream: { readonly byteLength: number };
}

/** Maximum bytes of text per byte of visible text; above it the text may contain a schema, which no model reads. */
const MAX_TEXT_PER_VISIBLE_BYTE = 2;

/** Watches the overhead of chat templates, which only upstreams know, but strict caps must reserve in advance. */
export class TemplateWatch {
  readonly #estimator: Pick<TokenEstimator, "learnOverhead">;
  /** By model and whether there were tools. */
  readonly #exceeded = new Map<string, ExceededOverhead>();

  constructor(estimator: Pick<TokenEstimator, "learnOverhead">) {
    this.#estimator = estimator;
  }

  /** Models whose overhead exceeded the configuration. */
  get exceeded(): readonly ExceededOverhead[] {
    return [...this.#exceeded.values()];
  }

  /**
   * Returns a callback for the prompt's token count: it learns the template's overhead, and counts prompts
   * whose template exceeded the configuration. Null if the bytes do not allow it.
   */
  watch({ admission, model, request, upstream }: WatchedRequest): ((promptTokens: number) => void) | null {
    const upstreamBytes = upstream.byteLength;
    // Measuring takes time, and long texts hide a template.
    if (!admission.isStrict && upstreamBytes > MAX_BYTES_TO_LEARN_OVERHEAD) return null;
    const { hasMedia, hasTools, messages, isWhole, textBytes, visibleTextBytes } = request.promptSize();
    // Prompts and texts that are not messages have no chat template; additions of the model server (a search,
    // its own tool, a stored file) are not part of a template.
    if (hasMedia || messages === 0 || !isWhole) return null;
    const subject = subjectOf(admission, model);
    const conversationBytes = visibleTextBytes * MAX_TEXT_PER_VISIBLE_BYTE >= textBytes ? textBytes : null;
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
