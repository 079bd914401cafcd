/**
 * Response flags of Envoy 1.40 (`%RESPONSE_FLAGS%` in its access log) in plain words.
 * @see https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/advanced/substitution_formatter
 * (RESPONSE_FLAGS)
 */
import { type Reason, reason } from "./reason.ts";

export const FLAGS = {
  UH: reason(
    "upstream",
    "{upstream} had no server that accepts requests: its name has no address, or all its servers are unhealthy",
    "operator",
    "Start the model server, or correct the upstream's `url`. `inference-gateway doctor` shows which of the two is wrong.",
  ),
  UF: reason(
    "upstream",
    "{upstream} could not be connected to",
    "operator",
    "Start the model server, correct the upstream's `url`, or allow the connection in the network.",
  ),
  UT: reason(
    "upstream",
    "{upstream} sent no response in time",
    "upstream",
    'Check the load of the model server. docs/envoy.md, "Timeouts", lists the timeouts.',
  ),
  UC: reason(
    "upstream",
    "{upstream} closed the connection before its response was complete",
    "upstream",
    "Read the log of the model server: it crashed, was restarted, or closes idle connections early. The client can retry.",
  ),
  UR: reason(
    "upstream",
    "{upstream} reset the request",
    "upstream",
    "Read the log of the model server for the reason. The client can retry.",
  ),
  LR: reason(
    "gateway",
    "Envoy itself reset the request to {upstream}",
    "operator",
    "Read the logs of Envoy and of the gateway at this time: Envoy was stopped, or a filter ended the request.",
  ),
  UO: reason(
    "gateway",
    "{upstream} had as many concurrent requests as Envoy may send",
    "operator",
    "Raise the circuit breakers of the upstream's cluster, or add servers to it. The client can retry later.",
  ),
  URX: reason(
    "upstream",
    "{upstream} failed at every attempt that Envoy may make",
    "upstream",
    "The details of the response code show why the last attempt failed. Read the log of the model server.",
  ),
  UPE: reason(
    "upstream",
    "{upstream} sent an invalid or incomplete HTTP response",
    "operator",
    "Check that the upstream's `url` leads to the model server, and that a proxy before the server speaks HTTP.",
  ),
  UMSDR: reason(
    "gateway",
    "{upstream} took longer than Envoy's maximum duration of a request",
    "operator",
    "If you want such long responses, raise the maximum duration of streams in Envoy's configuration.",
  ),
  NC: reason(
    "gateway",
    "{upstream} is not in Envoy's configuration",
    "operator",
    "Render the bootstrap again (`inference-gateway envoy render`) and restart Envoy, which runs with an older bootstrap.",
  ),
  NR: reason(
    "gateway",
    "Envoy had no route for the request",
    "client",
    "Compare the request's path with the paths in docs/api.md. If the path is listed there, ask the operator to render Envoy's bootstrap again.",
  ),
  DF: reason(
    "upstream",
    "{upstream} has a host name without an address",
    "operator",
    "Correct the upstream's `url`, or the DNS server that Envoy uses.",
  ),
  DC: reason(
    "client",
    "the client closed its connection before the response was complete",
    "client",
    "The gateway works: the client gave up, or a proxy or network in between closed the connection. Output until then is charged.",
  ),
  DR: reason(
    "client",
    "the client canceled its request before the response was complete",
    "client",
    "The gateway works: the client canceled. Output until then is charged.",
  ),
  DPE: reason(
    "client",
    "the client sent invalid HTTP",
    "client",
    "The details of the response code show what was wrong. Correct the client, or the proxy before the gateway.",
  ),
  IH: reason(
    "client",
    "the client sent an `x-envoy-` header with a value that Envoy doesn't accept",
    "client",
    "Don't send these headers.",
  ),
  DT: reason(
    "gateway",
    "the client's connection exceeded Envoy's maximum duration",
    "client",
    "Retry on a new connection.",
  ),
  SI: reason(
    "gateway",
    "no bytes arrived for longer than Envoy waits",
    "upstream",
    "Find out who stopped sending: a client that doesn't finish its body, or a model server that hangs.",
  ),
  UAEX: reason(
    "gateway",
    "the gateway rejected the request, or couldn't decide on it",
    "client",
    "The response's error code shows why. For `gateway_unavailable`, ask the operator to run `inference-gateway doctor`.",
  ),
  RL: reason(
    "gateway",
    "a rate limit in Envoy's configuration rejected the request",
    "client",
    "Wait and retry; the limit isn't one of the gateway's.",
  ),
  RLSE: reason(
    "gateway",
    "the rate limit service in Envoy's configuration didn't respond",
    "operator",
    "Check this service; it isn't a part of the gateway.",
  ),
  OM: reason(
    "gateway",
    "Envoy was short of memory or connections and rejected the request",
    "operator",
    "Give Envoy more memory, or add a host: from 95 % of its heap, Envoy rejects new requests. The client can retry later.",
  ),
  DO: reason(
    "gateway",
    "Envoy's control plane made it drop a share of the requests to {upstream}",
    "operator",
    "Check the drop policy that Envoy's control plane sets for the upstream's cluster.",
  ),
  UDO: reason(
    "gateway",
    "Envoy's control plane made it drop every request to {upstream}",
    "operator",
    "Check the drop policy that Envoy's control plane sets for the upstream's cluster.",
  ),
  LH: reason(
    "gateway",
    "Envoy's own health check was set to fail",
    "operator",
    "Envoy is draining, or `/healthcheck/fail` was called on its admin interface. `/healthcheck/ok` ends this state.",
  ),
  NFCF: reason(
    "gateway",
    "a filter of Envoy had no configuration yet",
    "operator",
    "Check the control plane that serves the filter's configuration.",
  ),
  FI: reason(
    "gateway",
    "a fault configured in Envoy ended the request",
    "operator",
    "Remove the fault filter from Envoy's configuration.",
  ),
  DI: reason(
    null,
    "a delay configured in Envoy delayed the request",
    "operator",
    "Remove the fault filter from Envoy's configuration.",
  ),
  RFCF: reason(null, "Envoy responded from its cache", "operator", "Nothing is wrong."),
} as const satisfies Record<string, Reason>;
