/** Whoever takes the port of the gateway's clients for that of its management API hears which one it is. */

export const DEFAULT_ADMIN_PORT = "10001";

/** What only that port says, of whatever it has been given as an API key. */
const KEY_CODES = new Set<unknown>([
  "missing_api_key",
  "invalid_api_key",
  "key_disabled",
  "key_expired",
  "user_disabled",
  "organization_suspended",
]);
const API_KEY = /^sk-igw-/;

/** Whether a refusal is that port's: both write errors alike. @param token What was sent: an API key opens that port. */
export function isOfGatewayPort(code: unknown, token: string): boolean {
  return KEY_CODES.has(code) || (code === "unknown_endpoint" && API_KEY.test(token));
}

/** What it is, and where the management API is expected: at its default port of the same host. */
export function describeGatewayPort(url: string): string {
  const expected = new URL(url);
  expected.port = DEFAULT_ADMIN_PORT;
  return (
    `${url} is the gateway's API port, where clients send requests with API keys. The management API, which takes the ` +
    "operator's or an organization's token, has a port of its own, `admin.port` in gateway.yaml: give --admin-url " +
    `${expected.origin}, unless your operator has set another.`
  );
}
