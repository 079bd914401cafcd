/**
 * One browser's way to a provider and back. All that it is bound by is made of one secret, which the browser keeps in a
 * cookie: who has not the cookie cannot use what the provider sends, and nothing of it is kept here.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Checks } from "./openid.ts";

export interface Transaction {
  readonly secret: string;
  /** Of the provider. */
  readonly provider: string;
  /** The path that is opened then. */
  readonly next: string;
}

const SECRET_BYTES = 32;
const COOKIE = /^([A-Za-z0-9_-]{43})\.([a-z0-9_-]{1,63})\.([A-Za-z0-9_-]{0,2732})$/;
/** A cookie has 4 kB. */
const MAX_NEXT_BYTES = 2048;

/** `next` is the start page where it is too long for a cookie. */
export function beginTransaction(provider: string, next: string): Transaction {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  return { secret, provider, next: Buffer.byteLength(next) > MAX_NEXT_BYTES ? "/" : next };
}

export function formatTransaction({ secret, provider, next }: Transaction): string {
  return `${secret}.${provider}.${Buffer.from(next).toString("base64url")}`;
}

/** Null: it is none. */
export function parseTransaction(cookie: string): Transaction | null {
  const [, secret, provider, next] = COOKIE.exec(cookie) ?? [];
  if (secret === undefined || provider === undefined || next === undefined) return null;
  return { secret, provider, next: Buffer.from(next, "base64url").toString("utf8") };
}

export function checksOf({ secret, provider }: Transaction): Checks {
  const make = (what: string): string =>
    createHmac("sha256", secret).update(`${provider} ${what}`).digest("base64url");
  return { state: make("state"), nonce: make("nonce"), codeVerifier: make("verifier") };
}
