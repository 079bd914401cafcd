/** Where a model server writes its text: to the usual place of each protocol, or to others. */

interface PlaceOf {
  /** Fields of a chat completion's message or delta. */
  readonly chat: (text: string) => object;
  /** A block of a message. */
  readonly block: (text: string) => { readonly type: string };
}

const PLACES = {
  content: {
    chat: (content) => ({ content }),
    block: (text) => ({ type: "text", text }),
  },
  reasoning_details: {
    chat: (text) => ({ reasoning_details: [{ type: "reasoning.text", text, index: 0 }] }),
    block: (content) => ({ type: "compaction", content }),
  },
  repeated_reasoning: {
    chat: (text) => ({ reasoning: text, reasoning_content: text }),
    block: (thinking) => ({ type: "thinking", thinking }),
  },
  of_tomorrow: {
    chat: (text) => ({ of_tomorrow: { words: [text] } }),
    block: (text) => ({ type: "thing", thing: { words: text } }),
  },
} satisfies Readonly<Record<string, PlaceOf>>;

export type Place = keyof typeof PLACES;

export const PLACE_NAMES = Object.keys(PLACES) as readonly Place[];

export function placeOf({ place = "content" }: { readonly place?: Place }): PlaceOf {
  return PLACES[place];
}
