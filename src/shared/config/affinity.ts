/** Decides which models send the requests of a session to the same server of their upstream. */
import { isIP } from "node:net";
import { hasChat } from "./has-chat.ts";
import type { ModelConfig, UpstreamConfig } from "./schema.ts";

type Place = Pick<UpstreamConfig, "endpoints" | "slowStartSeconds" | "endpointPicker">;

/** Returns whether a request may find another server: several are named, or a host name may have several addresses. */
export function hasSeveralServers({ endpoints }: Pick<UpstreamConfig, "endpoints">): boolean {
  return endpoints.length > 1 || endpoints.some(({ host }) => isIP(host) === 0);
}

/**
 * Returns whether a model's requests are pinned. Without `affinity` they are if the model generates text, the upstream
 * names several servers, and nothing there excludes it.
 */
export function pinsSessions(
  { affinity, capabilities }: Pick<ModelConfig, "affinity" | "capabilities">,
  upstream: Place,
): boolean {
  if (affinity !== null) return affinity === "session" && hasSeveralServers(upstream);
  const generates = hasChat(capabilities) || capabilities.includes("completions");
  return generates && upstream.endpoints.length > 1 && canPin(upstream);
}

/**
 * Envoy's consistent hashing has no slow start, and its retry stays in the priority of the first try: requests would fail
 * while all servers of priority 0 are dead. load/check-settings.ts explains it to operators.
 */
function canPin({ endpoints, slowStartSeconds, endpointPicker }: Place): boolean {
  const hasPriorities = endpoints.some(({ priority }) => priority > 0);
  return !hasPriorities && slowStartSeconds === null && endpointPicker === null;
}
