/**
 * A browser's round trip to a provider. All values that bind it are derived from one secret in a browser
 * cookie: without the cookie the provider's response is useless, and nothing is stored here.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Checks } from "./openid.ts";

export interface Transaction {
  readonly secret: string;
  /** Name of the provider. */
  readonly provider: string;
  /** Path to open afterwards. */
  readonly next: string;
}

const SECRET_BYTES = 32;
const COOKIE = /^([A-Za-z0-9_-]{43})\.([a-z0-9_-]{1,63})\.([A-Za-z0-9_-]{0,2732})$/;
/** A cookie is limited to 4 kB. */
const MAX_NEXT_BYTES = 2048;

/** Starts a transaction; `next` becomes the start page if it is too long for a cookie. */
export function beginTransaction(provider: string, next: string): Transaction {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  return { secret, provider, next: Buffer.byteLength(next) > MAX_NEXT_BYTES ? "/" : next };
}

export function formatTransaction({ secret, provider, next }: Transaction): string {
  return `${secret}.${provider}.${Buffer.from(next).toString("base64url")}`;
}

/** Returns null if the cookie is invalid. */
export function parseTransaction(cookie: string): Transaction | null {
  const [, secret, provider, next] = COOKIE.exec(cookie) ?? [];
  if (secret === undefined || provider === undefined || next === undefined) return null;
  return { secret, provider, next: Buffer.from(next, "base64url").toString("utf8") };
}

export function checksOf({ secret, provider }: Transaction): Checks {
  const make = (purpose: string): string =>
    createHmac("sha256", secret).update(`${provider} ${purpose}`).digest("base64url");
  return { state: make("state"), nonce: make("nonce"), codeVerifier: make("verifier") };
}
