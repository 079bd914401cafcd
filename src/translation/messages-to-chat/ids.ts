import { randomBytes } from "node:crypto";

/** Makes the ids that a message needs; a test pins them. */
export interface IdGenerator {
  /** `msg_…`: clients de-duplicate messages by it. */
  messageId(): string;
  /** `toolu_…`: for a tool call that came without an id of its own. */
  toolUseId(): string;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SUFFIX_LENGTH = 24;

/** Random ids, 24 alphanumerics each. */
export const randomIds: IdGenerator = {
  messageId: () => `msg_${createSuffix()}`,
  toolUseId: () => `toolu_${createSuffix()}`,
};

function createSuffix(): string {
  let suffix = "";
  // The modulo favours eight letters a little; 140 bits leave room for that.
  for (const byte of randomBytes(SUFFIX_LENGTH)) suffix += ALPHABET.charAt(byte % ALPHABET.length);
  return suffix;
}
