/** Headers of every response of the admin server: no resources from elsewhere, no inline scripts, no frames. */
export const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
  [
    "content-security-policy",
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'",
  ],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "no-referrer"],
  ["cache-control", "no-store"],
];
