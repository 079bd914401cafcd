/** The demo model behind a stack: embeddings and legacy completions that can be checked by hand. */
import { afterAll } from "vitest";
import { type DemoUpstream, startDemoUpstream } from "../../src/operation/demo/upstream.ts";
import { type ChatStack, withChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";

export const EMBED_MODEL = "demo/embed";
export const TEXT_MODEL = "demo/echo";

export function withDemoStack(): ChatStack {
  let demo: DemoUpstream | null = null;
  afterAll(async () => demo?.close());
  return withChatStack(async () => {
    demo = await startDemoUpstream({ host: "127.0.0.1", port: 0, wordDelayMs: 0 });
    return {
      upstreams: [{ name: "local", url: demo.url, path_prefix: "/v1" }],
      catalog: [
        catalogEntry({ id: TEXT_MODEL, upstream_model: "echo", capabilities: ["chat", "completions"] }),
        catalogEntry({
          id: EMBED_MODEL,
          upstream_model: "embed",
          context_window: 8_192,
          max_output_tokens: undefined,
          capabilities: ["embeddings"],
        }),
      ],
    };
  });
}
