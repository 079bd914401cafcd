import type { UpstreamProtocol } from "../translation/client-protocol.ts";

/**
 * What is spoken for a model with its upstream.
 * @param conversations What the upstream can converse in. A model whose one endpoint is embeddings has none of it.
 */
export function listUpstreamProtocols(
  capabilities: readonly string[],
  conversations: readonly UpstreamProtocol[],
): ReadonlySet<UpstreamProtocol> {
  const has = (name: string): boolean => capabilities.includes(name);
  const protocols = new Set<UpstreamProtocol>();
  const converses = !has("embeddings") || has("chat") || has("completions");
  if (converses) for (const protocol of conversations) protocols.add(protocol);
  if (has("completions")) protocols.add("completions");
  if (has("embeddings")) protocols.add("embeddings");
  return protocols;
}
