/**
 * Installs the demo's programs besides Node, while npm installs packages. Needs no packages and no build:
 * Node strips the types. Failures are retried and reported by `up`, which knows whether the program is
 * needed.
 */
import { ensureEnvoy } from "./envoy.ts";
import { ensureRedisServer } from "./redis.ts";
import { createToolContext } from "./tool-context.ts";

const context = createToolContext({ notice: () => undefined });
await ensureEnvoy(context).catch(() => undefined);
await ensureRedisServer(context).catch(() => undefined);
