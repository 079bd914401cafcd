import { createRandomId } from "../random-id.ts";

/** Creates the ids of a message; replaced in tests. */
export interface IdGenerator {
  /** `msg_…`: clients de-duplicate messages by it. */
  messageId(): string;
  /** `toolu_…`: for a tool call without an id. */
  toolUseId(): string;
}

const SUFFIX_LENGTH = 24;

/** Random ids with 24 alphanumeric characters. */
export const randomIds: IdGenerator = {
  messageId: () => createRandomId("msg_", SUFFIX_LENGTH),
  toolUseId: () => createRandomId("toolu_", SUFFIX_LENGTH),
};
