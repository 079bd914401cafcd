/**
 * Whether a model has chat, and with it messages and responses: every one, but for those with embeddings or completions
 * that do not name it too.
 */
export function hasChat(capabilities: readonly string[]): boolean {
  const has = (name: string): boolean => capabilities.includes(name);
  return has("chat") || !(has("embeddings") || has("completions"));
}
