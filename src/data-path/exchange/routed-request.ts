/** A metered request once it is routed, as the stages from there on share it. */
import type { Model } from "../catalog/catalog.ts";
import type { GatewayError } from "../../shared/contract/errors.ts";
import type { Admission } from "../limits/admission.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { RequestAccount } from "../settlement/request-account.ts";
import type { ClientRequest, ModelTarget, Observation, Protocol } from "../translation/client-protocol.ts";
import type { ExchangeServices } from "./exchange-services.ts";
import type { WayMeter } from "./ends/way-meter.ts";

/** An exchange as what comes behind its route sees it. */
export interface ExchangeHost {
  readonly services: ExchangeServices;
  readonly protocol: Protocol;
  /** It has its session once the body has named one. */
  readonly admission: Admission;
  readonly way: WayMeter;
  /** The log names the request by these. */
  readonly named: { readonly requestId: string; readonly model: string | null };
  /** The answer has begun; its end may contradict what it says of its usage. */
  observe(observation: Observation): void;
  /** It makes the final charge. The first call decides. */
  settle(outcome: Outcome, result: ClientResult): Promise<void>;
  /** It settles the request and throws the error that the client is told. */
  refuse(outcome: Outcome, error: GatewayError): Promise<never>;
  /** What the client got is known. It is called once, in the phase of the stream that decides it. */
  finish(result: ClientResult, error?: GatewayError | null): void;
  /**
   * The stream ended before the client was told all: Envoy knows why.
   * @param settledAs It is given where what goes on record is known before Envoy has told.
   */
  end(outcome: Outcome, settledAs?: ClientResult): Promise<void>;
}

export interface RoutedRequest {
  readonly exchange: ExchangeHost;
  readonly model: Model;
  /** It is the model under the name that the client asked for. */
  readonly target: ModelTarget;
  readonly account: RequestAccount;
  readonly request: ClientRequest;
  /** The client asks for the cost in the usage of its answer. */
  readonly wantsCost: boolean;
}
