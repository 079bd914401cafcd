/**
 * Installs what the demo starts besides Node, while npm installs packages. Needs none of these, and no build: Node takes the
 * types off. What fails is tried again, and told, by `up`, which knows whether it is needed.
 */
import { ensureEnvoy } from "./envoy.ts";
import { ensureRedisServer } from "./redis.ts";
import { createToolContext } from "./tool-context.ts";

const context = createToolContext({ notice: () => undefined });
await ensureEnvoy(context).catch(() => undefined);
await ensureRedisServer(context).catch(() => undefined);
