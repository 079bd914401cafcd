import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A prefix and so many random alphanumerics. */
export function createRandomId(prefix: string, characters: number): string {
  let id = prefix;
  // The modulo favours eight letters a little; there are bits enough to leave room for that.
  for (const byte of randomBytes(characters)) id += ALPHABET.charAt(byte % ALPHABET.length);
  return id;
}
