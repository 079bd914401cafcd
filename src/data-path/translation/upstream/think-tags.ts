import type { ModelProfile } from "../../../shared/contract/model-profile.ts";

/** Text that servers without a parser of reasoning write into the content, told apart. */
export interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

const OPENING = "<think>";
const CLOSING = "</think>";

/**
 * Finds tagged reasoning in a text that comes in pieces. Only what may become a tag waits, with white space around tags, of
 * which that is dropped. A tag behind the beginning of the answer is text of the model's.
 */
export class ThinkTags {
  readonly #isBegun: boolean;
  #state: "beginning" | "reasoning" | "answer_beginning" | "answer" = "beginning";
  #held = "";

  constructor(setting: Exclude<ModelProfile["thinkTags"], "none">) {
    this.#isBegun = setting === "closing_tag";
  }

  split(piece: string): SplitText {
    this.#held += piece;
    if (this.#state === "beginning") this.#readBeginning();
    const reasoning = this.#state === "reasoning" ? this.#takeReasoning() : "";
    return { reasoning, text: this.#takeAnswer() };
  }

  /** Nothing more will come: what waits for a tag is none. */
  end(): SplitText {
    const held = this.#held;
    this.#held = "";
    if (this.#state === "reasoning") return { reasoning: held, text: "" };
    const isTag = this.#state === "answer_beginning" || held.trim() === OPENING;
    return { reasoning: "", text: isTag ? "" : held };
  }

  #readBeginning(): void {
    const begun = this.#held.trimStart();
    if (begun.startsWith(OPENING)) {
      const rest = begun.slice(OPENING.length).trimStart();
      // White space behind the tag may go on.
      if (rest === "") return;
      this.#held = rest;
      this.#state = "reasoning";
    } else if (!OPENING.startsWith(begun)) {
      this.#state = this.#isBegun ? "reasoning" : "answer";
    }
  }

  #takeReasoning(): string {
    const end = this.#held.indexOf(CLOSING);
    const kept = end === -1 ? this.#held.length - countTagBegun(this.#held) : end;
    const reasoning = this.#held.slice(0, kept);
    this.#held = this.#held.slice(end === -1 ? kept : end + CLOSING.length);
    if (end !== -1) this.#state = "answer_beginning";
    return reasoning;
  }

  #takeAnswer(): string {
    if (this.#state === "answer_beginning") {
      this.#held = this.#held.trimStart();
      if (this.#held !== "") this.#state = "answer";
    }
    if (this.#state !== "answer") return "";
    const text = this.#held;
    this.#held = "";
    return text;
  }
}

/** How many of the last characters may be the beginning of the closing tag. */
function countTagBegun(text: string): number {
  for (let count = Math.min(CLOSING.length - 1, text.length); count > 0; count -= 1) {
    if (text.endsWith(CLOSING.slice(0, count))) return count;
  }
  return 0;
}
