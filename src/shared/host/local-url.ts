import { isIP } from "node:net";

/** Returns the address for a local client of a server that listens on `host`, which may be all interfaces. */
export function formatLocalUrl(host: string, port: number, scheme: "http" | "https" = "http"): string {
  if (host === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (host === "::") return `${scheme}://[::1]:${port}`;
  return `${scheme}://${formatHost(host)}:${port}`;
}

/** Formats a host for a URL: an IPv6 address in brackets. */
export function formatHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Returns whether a name or address, without brackets, is loopback. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host);
}

/**
 * Returns whether the host of a parsed URL is a loopback address: 127.0.0.0/8 or ::1. False for all names,
 * even `localhost`: a resolver decides about these.
 */
export function isLoopbackAddress(hostname: string): boolean {
  return hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."));
}
