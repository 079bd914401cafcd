/** The address under which a local client reaches what listens on `host`: an address for all interfaces is none. */
export function formatLocalUrl(host: string, port: number, scheme: "http" | "https" = "http"): string {
  if (host === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (host === "::") return `${scheme}://[::1]:${port}`;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
