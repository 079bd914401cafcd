import { hasChat } from "../../shared/config/has-chat.ts";
import type { UpstreamProtocol } from "../../shared/contract/model-profile.ts";

/**
 * Lists the protocols that the upstream of a model speaks.
 * @param conversations Protocols in which the upstream can converse.
 */
export function listUpstreamProtocols(
  capabilities: readonly string[],
  conversations: readonly UpstreamProtocol[],
): ReadonlySet<UpstreamProtocol> {
  const has = (name: string): boolean => capabilities.includes(name);
  const protocols = new Set<UpstreamProtocol>();
  if (hasChat(capabilities)) for (const protocol of conversations) protocols.add(protocol);
  if (has("completions")) protocols.add("completions");
  if (has("embeddings")) protocols.add("embeddings");
  return protocols;
}
