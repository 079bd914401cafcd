import { createRandomId } from "../random-id.ts";

/** Makes the ids that a message needs; a test pins them. */
export interface IdGenerator {
  /** `msg_…`: clients de-duplicate messages by it. */
  messageId(): string;
  /** `toolu_…`: for a tool call that came without an id of its own. */
  toolUseId(): string;
}

const SUFFIX_LENGTH = 24;

/** Random ids, 24 alphanumerics each. */
export const randomIds: IdGenerator = {
  messageId: () => createRandomId("msg_", SUFFIX_LENGTH),
  toolUseId: () => createRandomId("toolu_", SUFFIX_LENGTH),
};
