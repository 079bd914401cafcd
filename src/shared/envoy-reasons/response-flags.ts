/**
 * Response flags of Envoy 1.40 (`%RESPONSE_FLAGS%` in its access log) in plain words.
 * @see https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/advanced/substitution_formatter
 * (RESPONSE_FLAGS)
 */
import { type Reason, reason } from "./reason.ts";

export const FLAGS = {
  UH: reason(
    "upstream",
    "{upstream} had no server that takes requests: its name has no address, or every server of it is held for unhealthy",
    "operator",
    "Start the model server, or correct the upstream's `url`. `inference-gateway doctor` says which of the two it is.",
  ),
  UF: reason(
    "upstream",
    "{upstream} could not be connected to",
    "operator",
    "Start the model server, or correct the upstream's `url`; look at network rules between here and there.",
  ),
  UT: reason(
    "upstream",
    "{upstream} gave no answer in time",
    "upstream",
    'Look at the load of the model server. How long is waited for what is in docs/envoy.md, "Timeouts".',
  ),
  UC: reason(
    "upstream",
    "{upstream} closed the connection before its answer was complete",
    "upstream",
    "Look into the log of the model server: it crashed, was restarted, or closes idle connections early. The request can be sent again.",
  ),
  UR: reason(
    "upstream",
    "{upstream} broke the request off",
    "upstream",
    "Look into the log of the model server for the reason. The request can be sent again.",
  ),
  LR: reason(
    "gateway",
    "Envoy broke the request to {upstream} off itself",
    "operator",
    "Look into Envoy's log and into the gateway's at this time: Envoy was stopped, or a filter ended the request.",
  ),
  UO: reason(
    "gateway",
    "{upstream} had as many requests as Envoy may send it at a time",
    "operator",
    "Raise the circuit breakers of the upstream's cluster, or add servers to it. The request can be sent again later.",
  ),
  URX: reason(
    "upstream",
    "{upstream} failed every try that Envoy may make",
    "upstream",
    "The details of the response code tell the last try's reason. Look into the log of the model server.",
  ),
  UPE: reason(
    "upstream",
    "{upstream} answered with something that is no valid HTTP, or broke off in the middle of it",
    "operator",
    "Look whether the upstream's `url` leads to the model server and whether a proxy before it speaks something else.",
  ),
  UMSDR: reason(
    "gateway",
    "{upstream} took longer than a request may take there at all",
    "operator",
    "Raise the maximum duration of streams in Envoy's configuration if such answers are wanted.",
  ),
  NC: reason(
    "gateway",
    "{upstream} is not in Envoy's configuration",
    "operator",
    "Render the bootstrap again (`inference-gateway envoy render`) and restart Envoy: it runs with an older one.",
  ),
  NR: reason(
    "gateway",
    "Envoy had no route for the request",
    "client",
    "Compare the request's path with those of docs/api.md. If it is one of them, the operator renders Envoy's bootstrap again.",
  ),
  DF: reason(
    "upstream",
    "{upstream} has a name for which there is no address",
    "operator",
    "Correct the upstream's `url`, or the DNS that Envoy asks.",
  ),
  DC: reason(
    "client",
    "the client closed its connection before the answer was complete",
    "client",
    "Nothing is wrong with the gateway: the client gave up, or something between it and here closed the connection. What was generated until then is charged.",
  ),
  DR: reason(
    "client",
    "the client took its request back before the answer was complete",
    "client",
    "Nothing is wrong with the gateway: the client cancelled. It pays for the tokens until then.",
  ),
  DPE: reason(
    "client",
    "the client sent something that is no valid HTTP",
    "client",
    "The details of the response code tell what was wrong. Correct the client, or the proxy before the gateway.",
  ),
  IH: reason(
    "client",
    "the client sent an `x-envoy-` header with a value that Envoy does not take",
    "client",
    "Leave these headers out.",
  ),
  DT: reason(
    "gateway",
    "the connection of the client was open for longer than Envoy lets one be",
    "client",
    "Send the request again on a new connection.",
  ),
  SI: reason(
    "gateway",
    "nothing moved on the request for longer than Envoy waits",
    "upstream",
    "Look who fell silent: a client that does not send its body to the end, or a model server that hangs.",
  ),
  UAEX: reason(
    "gateway",
    "the gateway refused the request at its admission, or could not decide on it",
    "client",
    "The answer's error code says why. With `gateway_unavailable` the operator looks at `inference-gateway doctor`.",
  ),
  RL: reason(
    "gateway",
    "a rate limit of Envoy's own refused the request",
    "client",
    "Wait and try again; the limit is in Envoy's configuration, not in the gateway's.",
  ),
  RLSE: reason(
    "gateway",
    "the rate limit service of Envoy's configuration could not be asked",
    "operator",
    "Look at that service; the gateway has none of its own.",
  ),
  OM: reason(
    "gateway",
    "Envoy was short of memory or connections and refused the request",
    "operator",
    "Give Envoy more memory, or add a host: its overload manager refuses new requests from 95 % of its heap. The request can be sent again later.",
  ),
  DO: reason(
    "gateway",
    "Envoy was told to drop a share of the requests to {upstream}",
    "operator",
    "Look at the drop policy that Envoy's control plane gives the upstream's cluster.",
  ),
  UDO: reason(
    "gateway",
    "Envoy was told to drop every request to {upstream}",
    "operator",
    "Look at the drop policy that Envoy's control plane gives the upstream's cluster.",
  ),
  LH: reason(
    "gateway",
    "Envoy's own health check was made to fail",
    "operator",
    "Envoy is draining or was told to fail its check (`/healthcheck/fail`); `/healthcheck/ok` of its admin interface ends it.",
  ),
  NFCF: reason(
    "gateway",
    "a filter of Envoy had no configuration yet",
    "operator",
    "Look at the control plane that serves the filter's configuration.",
  ),
  FI: reason(
    "gateway",
    "a fault configured in Envoy ended the request",
    "operator",
    "Take the fault filter out of Write Envoy's configuration.",
  ),
  DI: reason(
    null,
    "a delay configured in Envoy delayed the request",
    "operator",
    "Take the fault filter out of Write Envoy's configuration.",
  ),
  RFCF: reason(null, "Envoy answered from its cache", "operator", "Nothing is wrong."),
} as const satisfies Record<string, Reason>;
