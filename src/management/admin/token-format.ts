/** The form of an organization token: `igw_org_` and 256 random bits in base64url (43 characters). */
import { createHash, randomBytes } from "node:crypto";

const PREFIX = "igw_org_";
const RANDOM_BYTES = 32;
const FORM = /^igw_org_[A-Za-z0-9_-]{43}$/;
const DISPLAYED_CHARACTERS = 4;

/** A new token. Shown once; only `hashToken` of it is kept. */
export function createOrganizationToken(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString("base64url");
}

/** Whether a text has the form of a token. Says nothing about whether there is such a token. */
export function isWellFormedToken(text: string): boolean {
  return FORM.test(text);
}

/** SHA-256, 64 lower-case hexadecimal digits: what is stored of a token. */
export function hashToken(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What people see of a token: `igw_org_…a1B2`. */
export function displayToken(text: string): string {
  return `${PREFIX}…${text.slice(-DISPLAYED_CHARACTERS)}`;
}
