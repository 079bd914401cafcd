import { ACCESS_LOG, HEALTH_WATCH } from "../messages/codec.ts";

/** Paths of calls that stay open as long as the client likes. Draining does not wait for them. */
export const LASTING_CALLS: ReadonlySet<string | undefined> = new Set([HEALTH_WATCH.path, ACCESS_LOG.path]);
