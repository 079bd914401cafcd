import type { ModelProfile } from "../../../shared/contract/model-profile.ts";

/** Content split into reasoning and text, for servers that do not parse reasoning. */
export interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

const OPENING = "<think>";
const CLOSING = "</think>";

/**
 * Finds tagged reasoning in a text that arrives in pieces. Only holds back text that may become a tag; drops white
 * space around tags. A tag after the beginning of the answer is part of the text.
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

  /** Ends the text; held text is not a tag. */
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
      // More white space may follow the tag.
      if (rest === "") return;
      this.#held = rest;
      this.#state = "reasoning";
    } else if (!OPENING.startsWith(begun)) {
      this.#state = this.#isBegun ? "reasoning" : "answer";
    }
  }

  #takeReasoning(): string {
    const end = this.#held.indexOf(CLOSING);
    const textEnd = end === -1 ? this.#held.length - countTagBegun(this.#held) : end;
    const reasoning = this.#held.slice(0, textEnd);
    this.#held = this.#held.slice(end === -1 ? textEnd : end + CLOSING.length);
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

/** Counts the last characters that may begin the closing tag. */
function countTagBegun(text: string): number {
  for (let count = Math.min(CLOSING.length - 1, text.length); count > 0; count -= 1) {
    if (text.endsWith(CLOSING.slice(0, count))) return count;
  }
  return 0;
}
