/**
 * Returns whether a model has chat, and therefore messages and responses: all models except those that list
 * embeddings or completions without chat.
 */
export function hasChat(capabilities: readonly string[]): boolean {
  const has = (name: string): boolean => capabilities.includes(name);
  return has("chat") || !(has("embeddings") || has("completions"));
}
