import type { JsonObject } from "../../../shared/text/json-object.ts";
import { readThinkingBudget } from "../../translation/fields/thinking-budget.ts";
import type { ClientRequest, ModelTarget } from "../../translation/client-protocol.ts";

/** The body that goes upstream, in the form that the caps demand: strict ones may come into force until the hold. */
export class UpstreamDraft {
  readonly #request: ClientRequest;
  readonly #model: ModelTarget;
  #isStrict: boolean;
  #bytes: Uint8Array;
  /** See UpstreamForm. */
  readonly thinkingBudget: number;
  /** Its length with a limit of one digit, once somebody has asked. */
  #shortestLength: number | null = null;

  /**
   * @param asked The client's body: what of an answer is for thinking.
   * @throws GatewayError 400 as `ClientRequest.toUpstream` says.
   */
  constructor(request: ClientRequest, model: ModelTarget, isStrict: boolean, asked: JsonObject = {}) {
    this.thinkingBudget = readThinkingBudget(asked);
    this.#request = request;
    this.#model = model;
    this.#isStrict = isStrict;
    this.#bytes = request.toUpstream(model, isStrict ? "strict" : "default");
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  /** @throws GatewayError 400 as `ClientRequest.toUpstream` says. */
  becomeStrict(): void {
    if (this.#isStrict) return;
    this.#isStrict = true;
    this.#bytes = this.#request.toUpstream(this.#model, "strict");
  }

  /** @see UpstreamForm */
  lengthAt(tokens: number): number | null {
    const names = this.#request.limitNames(this.#model).length;
    if (names === 0) return null;
    this.#shortestLength ??= this.#request.toUpstream(this.#model, "strict", 1).byteLength;
    return this.#shortestLength + names * (String(tokens).length - 1);
  }

  /** @see UpstreamForm */
  lowerOutput(tokens: number): void {
    this.#isStrict = true;
    this.#bytes = this.#request.toUpstream(this.#model, "strict", tokens);
  }
}
