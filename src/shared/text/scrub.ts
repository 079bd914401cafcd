/**
 * Removal of credentials from lines before they are written: keys, tokens, webhook secrets, bearer values,
 * and user and password in URLs. A last protection: our code never logs them, but a library's error text may
 * contain one.
 */
const CREDENTIALS =
  /(sk-igw-)[A-Za-z0-9]{6,}|(whsec_)[A-Za-z0-9+/=]{6,}|(igw_[a-z]+_)[A-Za-z0-9_-]{6,}|(\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{6,}|(\bsk-)[A-Za-z0-9_-]{16,}|(:\/\/)[^/\s"'@\\]+@/gi;
/** Tests for any credential: hardly any text has one, and testing takes a tenth of the time of replacing. */
const ANY_CREDENTIAL = new RegExp(CREDENTIALS.source, "i");

/** Longer than any credential of this gateway. */
const MAX_CREDENTIAL_CHARACTERS = 512;

/** Replaces every credential by `[redacted]`. */
export function scrub(text: string): string {
  if (!ANY_CREDENTIAL.test(text)) return text;
  return text.replace(CREDENTIALS, (_match, ...groups: unknown[]) => {
    const found = groups.slice(0, 6).find((one) => typeof one === "string");
    return found === "://" ? "://[redacted]@" : `${String(found)}[redacted]`;
  });
}

/** Returns at most this many characters from the start of a text, without leaving half of a credential. */
export function scrubBeginning(text: string, maxCharacters: number): string {
  return scrub(text.slice(0, maxCharacters + MAX_CREDENTIAL_CHARACTERS)).slice(0, maxCharacters);
}

/** Returns whether a text contains anything that looks like a credential. */
export function holdsCredential(text: string): boolean {
  return scrub(text) !== text;
}
