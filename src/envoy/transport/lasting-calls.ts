import { ACCESS_LOG, HEALTH_WATCH } from "../messages/codec.ts";

/** Calls that stay open for as long as their client likes: nothing that ends waits for them. By their path. */
export const LASTING_CALLS: ReadonlySet<string | undefined> = new Set([HEALTH_WATCH.path, ACCESS_LOG.path]);
