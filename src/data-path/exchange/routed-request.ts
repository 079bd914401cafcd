/** A routed metered request, as its later stages share it. */
import type { Model } from "../catalog/catalog.ts";
import type { GatewayError } from "../../shared/contract/errors.ts";
import type { Admission } from "../limits/admission.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { RequestAccount } from "../settlement/request-account.ts";
import type { ClientRequest, ModelTarget, Observation, Protocol } from "../translation/client-protocol.ts";
import type { ExchangeServices } from "./exchange-services.ts";
import type { RequestTimer } from "./ends/request-timer.ts";

/** Interface of an exchange towards the stages after routing. */
export interface ExchangeHost {
  readonly services: ExchangeServices;
  readonly protocol: Protocol;
  /** Its session is set once the body has named one. */
  readonly admission: Admission;
  readonly timer: RequestTimer;
  /** Names of the request in the log. */
  readonly named: { readonly requestId: string; readonly model: string | null };
  /** The response has begun; its end may correct the observed usage. */
  observe(observation: Observation): void;
  /** Makes the final charge. Only the first call counts. */
  settle(outcome: Outcome, result: ClientResult): Promise<void>;
  /** Settles the request and throws the client's error. */
  refuse(outcome: Outcome, error: GatewayError): Promise<never>;
  /** Records the client's result. Call once, in the phase that decides it. */
  finish(result: ClientResult, error?: GatewayError | null): void;
  /**
   * The stream ended before the client got the whole response; Envoy's log has the reason.
   * @param settledAs Result to record if it is known before Envoy's log entry arrives.
   */
  end(outcome: Outcome, settledAs?: ClientResult): Promise<void>;
}

export interface RoutedRequest {
  readonly exchange: ExchangeHost;
  readonly model: Model;
  /** The model, under the name that the client used. */
  readonly target: ModelTarget;
  readonly account: RequestAccount;
  readonly request: ClientRequest;
  /** The client asks for the cost in the response's usage. */
  readonly wantsCost: boolean;
}
