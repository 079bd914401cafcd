/** Bodies of both organizations: each carries what the counting upstream is to do for it. */
import { randomUUID } from "node:crypto";
import type { Order } from "../faults/counting-upstream.ts";

export const ROUTES = ["/v1/chat/completions", "/v1/messages", "/v1/responses"] as const;
export type Route = (typeof ROUTES)[number];

/** The same model for both organizations. */
export const MODEL = "acme/counted";

/** The catalog's. */
const MAX_OUTPUT_TOKENS = 8_192;

export function createOrder(fields: Partial<Order> = {}): Order {
  return { id: randomUUID(), promptTokens: 50, outputTokens: 20, tokenMs: 0, ...fields };
}

/** `fields` beside what every request has; `before` in a message of its own. */
export function createBody(
  route: Route,
  order: Order,
  { stream = false, before, ...fields }: { stream?: boolean; before?: string; [field: string]: unknown } = {},
): string {
  const earlier =
    before === undefined
      ? []
      : [
          { role: "user", content: before },
          { role: "assistant", content: "Go on." },
        ];
  const messages = [...earlier, { role: "user", content: JSON.stringify(order) }];
  const most = Math.min(order.outputTokens, MAX_OUTPUT_TOKENS);
  const asked =
    route === "/v1/responses" ? { input: messages, max_output_tokens: most } : { messages, max_tokens: most };
  return JSON.stringify({ model: MODEL, stream, ...asked, ...fields });
}
