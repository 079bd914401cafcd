import { isIP } from "node:net";

/** The address under which a local client reaches what listens on `host`: an address for all interfaces is none. */
export function formatLocalUrl(host: string, port: number, scheme: "http" | "https" = "http"): string {
  if (host === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (host === "::") return `${scheme}://[::1]:${port}`;
  return `${scheme}://${formatHost(host)}:${port}`;
}

/** As it stands in a URL: an IPv6 address in brackets. */
export function formatHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Whether a name or address, without brackets, is this machine's alone. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host);
}

/**
 * Whether the host of a parsed URL is an address of this machine's loopback: 127.0.0.0/8 or ::1. No name is one, not even
 * `localhost`: who answers for it is up to a resolver.
 */
export function isLoopbackAddress(hostname: string): boolean {
  return hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."));
}
