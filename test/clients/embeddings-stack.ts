/** The demo model behind the shared stack: embeddings and legacy completions that can be checked by hand. */
import { type ChatStack, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";

export const EMBED_MODEL = "demo/embed";
export const TEXT_MODEL = "demo/echo";

const CATALOG = [
  catalogEntry({
    id: TEXT_MODEL,
    upstream: "demo",
    upstream_model: "echo",
    capabilities: ["chat", "completions"],
  }),
  catalogEntry({
    id: EMBED_MODEL,
    upstream: "demo",
    upstream_model: "embed",
    context_window: 8_192,
    max_output_tokens: undefined,
    capabilities: ["embeddings"],
  }),
];

export function withDemoStack(): ChatStack {
  return withSharedChatStack(CATALOG);
}
