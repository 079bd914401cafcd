import type { JsonObject } from "../../../shared/text/json-object.ts";
import { readThinkingBudget } from "../../translation/fields/thinking-budget.ts";
import type { ClientRequest, ModelTarget } from "../../translation/client-protocol.ts";

/** The upstream's body in the form that caps require. Strict caps may come into force until the record is opened. */
export class UpstreamDraft {
  readonly #request: ClientRequest;
  readonly #model: ModelTarget;
  #isStrict: boolean;
  #bytes: Uint8Array;
  /** See UpstreamForm. */
  readonly thinkingBudget: number;
  /** Body length with a one-digit limit, once computed. */
  #shortestLength: number | null = null;

  /**
   * @param fields Fields of the client's body that configure thinking.
   * @throws GatewayError 400, see `ClientRequest.toUpstream`.
   */
  constructor(request: ClientRequest, model: ModelTarget, isStrict: boolean, fields: JsonObject = {}) {
    this.thinkingBudget = readThinkingBudget(fields);
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

  /** @throws GatewayError 400, see `ClientRequest.toUpstream`. */
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
