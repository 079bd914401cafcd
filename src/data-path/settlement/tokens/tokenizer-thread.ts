/**
 * Tokenizer thread: loading the vocabulary takes a quarter of a second and 70 MB, and a megabyte of text can
 * take a second, so neither may happen on the event loop that carries streams.
 */
import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { splitText } from "./split-text.ts";
import type { TokenizerAnswer, TokenizerQuestion } from "./tokenizer.ts";

/** Treats marks like `<|endoftext|>` as text, since a client may write them. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

const loaded: TokenizerAnswer = { id: 0, tokens: 0 };
parentPort?.postMessage(loaded, []);
parentPort?.on("message", ({ id, text }: TokenizerQuestion) => {
  let tokens = 0;
  for (const piece of splitText(text)) tokens += countTokens(piece, AS_TEXT);
  const answer: TokenizerAnswer = { id, tokens };
  parentPort?.postMessage(answer, []);
});
