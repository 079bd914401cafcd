/** Hosts that stand for every address of a machine. */
const ANY_HOST = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Where clients reach the gateway: as configured; else the address it listens on, with the host by which the reader
 * reached this page where it listens on all.
 */
export function formatGatewayUrl(options: { readonly gatewayUrl?: string }, pageUrl: string): string {
  const configured = options.gatewayUrl ?? "http://127.0.0.1:10000";
  const url = new URL(configured);
  if (ANY_HOST.has(url.hostname)) url.hostname = new URL(pageUrl).hostname;
  return url.href.replace(/\/$/, "");
}
