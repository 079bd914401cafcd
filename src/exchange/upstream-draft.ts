import type { ClientRequest, ModelTarget } from "../translation/client-protocol.ts";

/** The body that goes upstream, in the form that the caps demand: strict ones may come into force until the hold. */
export class UpstreamDraft {
  readonly #request: ClientRequest;
  readonly #model: ModelTarget;
  #isStrict: boolean;
  #bytes: Uint8Array;

  /** @throws GatewayError 400 as `ClientRequest.toUpstream` says. */
  constructor(request: ClientRequest, model: ModelTarget, strictCaps: boolean) {
    this.#request = request;
    this.#model = model;
    this.#isStrict = strictCaps;
    this.#bytes = request.toUpstream(model, strictCaps ? "strict" : "default");
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
}
