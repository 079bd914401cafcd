import { createRandomId } from "../random-id.ts";

/** OpenAI's prefixes of ids. */
export type IdKind = "resp" | "msg" | "rs" | "fc" | "ctc" | "tsc" | "cmp" | "call";

/** Creates the ids of a response; replaced in tests. */
export type CreateId = (kind: IdKind) => string;

const RESPONSE_CHARACTERS = 24;
/** Shorter, because each delta of a stream repeats the id of its item. */
const ITEM_CHARACTERS = 16;

/** Random ids: `resp_` and 24 alphanumeric characters, 16 for everything inside a response. */
export const createRandomIds: CreateId = (kind) =>
  createRandomId(`${kind}_`, kind === "resp" ? RESPONSE_CHARACTERS : ITEM_CHARACTERS);
