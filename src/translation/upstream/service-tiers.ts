/** What upstreams call the service tier that nobody asks for by name: OpenAI, Anthropic, Groq. */
export const DEFAULT_SERVICE_TIERS: ReadonlySet<string> = new Set([
  "auto",
  "default",
  "on_demand",
  "standard",
  "standard_only",
]);
