/**
 * Form of an API key: `sk-igw-`, 40 random base62 characters (238 bits) and 6 base62 characters of the CRC32
 * of everything before. The checksum only detects mistyped and made-up keys without a look-up.
 */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "sk-igw-";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS = 40;
const CHECKSUM_CHARACTERS = 6;
const FORM = /^sk-igw-[0-9A-Za-z]{46}$/;
/** Largest multiple of 62 in a byte: larger bytes are discarded, so that all characters are equally likely. */
const UNBIASED_BYTES = 248;
const DISPLAYED_CHARACTERS = 4;

/** Creates a key. It is shown once; only its `hashKey` is stored. */
export function createKey(): string {
  const body = PREFIX + randomText(RANDOM_CHARACTERS);
  return body + checksum(body);
}

/** Returns whether a text has the form and checksum of a key, which may not exist. */
export function isWellFormedKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  return text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARACTERS)));
}

/** Returns whether a text begins like a key, such as a mistyped one. */
export function looksLikeKey(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Returns the stored SHA-256, 64 lower-case hexadecimal digits. The 238 random bits need no salt. */
export function hashKey(text: string): string {
  return hash("sha256", text, "hex");
}

/** Returns the visible characters of a key: `sk-igw-…a1B2`. */
export function displayKey(text: string): string {
  return `${PREFIX}…${text.slice(-DISPLAYED_CHARACTERS)}`;
}

function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(2 * length)) {
      if (byte < UNBIASED_BYTES && text.length < length) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}

/** Returns the CRC-32, as in zlib, in base62, most significant digit first. 62^6 exceeds 2^32. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let position = 0; position < CHECKSUM_CHARACTERS; position += 1) {
    digits = (ALPHABET[rest % ALPHABET.length] ?? "") + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
