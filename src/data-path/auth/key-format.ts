/**
 * The form of an API key: `sk-igw-`, 40 random base62 characters (238 bits) and 6 base62 characters of CRC32 over all
 * that precedes them. A mistyped or made-up key is recognised without a look-up; the checksum protects nothing else.
 */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "sk-igw-";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS = 40;
const CHECKSUM_CHARACTERS = 6;
const FORM = /^sk-igw-[0-9A-Za-z]{46}$/;
/** The largest multiple of 62 in a byte: bytes from here on are thrown away, so that no character is likelier. */
const UNBIASED_BYTES = 248;
const DISPLAYED_CHARACTERS = 4;

/** A new key. Shown once; only `hashKey` of it is kept. */
export function createKey(): string {
  const body = PREFIX + randomText(RANDOM_CHARACTERS);
  return body + checksum(body);
}

/** Whether a text has the form and the checksum of a key. Says nothing about whether there is such a key. */
export function isWellFormedKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  return text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARACTERS)));
}

/** SHA-256, 64 lower-case hexadecimal digits: what is stored of a key. Its 238 random bits need no salt. */
export function hashKey(text: string): string {
  return hash("sha256", text, "hex");
}

/** What people see of a key: `sk-igw-…a1B2`. */
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

/** CRC-32, as in zlib, in base62, most significant first. 62^6 is above 2^32. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let position = 0; position < CHECKSUM_CHARACTERS; position += 1) {
    digits = (ALPHABET[rest % ALPHABET.length] ?? "") + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
