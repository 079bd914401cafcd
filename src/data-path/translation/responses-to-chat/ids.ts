import { createRandomId } from "../random-id.ts";

/** What an id is of: its prefix, as OpenAI's. */
export type IdKind = "resp" | "msg" | "rs" | "fc" | "ctc" | "tsc" | "cmp" | "call";

/** Makes the ids that a response needs; a test pins them. */
export type CreateId = (kind: IdKind) => string;

const RESPONSE_CHARACTERS = 24;
/** Shorter: each delta of a stream repeats the id of its item. */
const ITEM_CHARACTERS = 16;

/** Random ids: `resp_` and 24 alphanumerics, 16 for everything in a response. */
export const createRandomIds: CreateId = (kind) =>
  createRandomId(`${kind}_`, kind === "resp" ? RESPONSE_CHARACTERS : ITEM_CHARACTERS);
