import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context } from "hono";

/** The other end of the connection; behind a proxy that is the proxy, and its users are one. */
export function addressOf(context: Context): string {
  return getConnInfo(context).remote.address ?? "unknown";
}
