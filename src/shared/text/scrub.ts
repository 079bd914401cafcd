/**
 * Takes what has the form of a credential out of a line before it is written: keys, tokens, webhook secrets, bearer
 * values, and user and password in URLs. The last lock: no code passes them to a logger, but a library's error text may.
 */
const CREDENTIALS =
  /(sk-igw-)[A-Za-z0-9]{6,}|(whsec_)[A-Za-z0-9+/=]{6,}|(igw_[a-z]+_)[A-Za-z0-9_-]{6,}|(\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{6,}|(\bsk-)[A-Za-z0-9_-]{16,}|(:\/\/)[^/\s"'@\\]+@/gi;
/** Whether there is one: hardly any text has one, and asking is a tenth of the time of replacing. */
const ANY_CREDENTIAL = new RegExp(CREDENTIALS.source, "i");

/** Longer than any of this gateway's. */
const MAX_CREDENTIAL_CHARACTERS = 512;

/** The text with every credential in it replaced by `[redacted]`. */
export function scrub(text: string): string {
  if (!ANY_CREDENTIAL.test(text)) return text;
  return text.replace(CREDENTIALS, (_match, ...groups: unknown[]) => {
    const kept = groups.slice(0, 6).find((group) => typeof group === "string");
    return kept === "://" ? "://[redacted]@" : `${String(kept)}[redacted]`;
  });
}

/** The beginning of a text, at most so many characters, without the half of a credential that a cut would leave. */
export function scrubBeginning(text: string, maxCharacters: number): string {
  return scrub(text.slice(0, maxCharacters + MAX_CREDENTIAL_CHARACTERS)).slice(0, maxCharacters);
}

/** Whether a text holds what has the form of a credential. */
export function holdsCredential(text: string): boolean {
  return scrub(text) !== text;
}
