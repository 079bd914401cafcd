/** The two majors of LangChain for Node that are in use, each with its core. */
import { createRequire } from "node:module";
import * as anthropic from "@langchain/anthropic";
import * as messages from "@langchain/core/messages";
import * as tools from "@langchain/core/tools";
import * as openai from "@langchain/openai";
import { firstOnPush } from "../support/extent.ts";
import { type Client, CLIENTS } from "./clients.ts";

export interface LangChain {
  readonly name: string;
  readonly isCurrent: boolean;
  readonly provenOpenai: Client;
  readonly provenAnthropic: Client;
  readonly anthropic: typeof anthropic;
  readonly messages: typeof messages;
  readonly openai: typeof openai;
  readonly tools: typeof tools;
}

const loadCurrent = (): LangChain => ({
  name: "LangChain 1",
  isCurrent: true,
  provenOpenai: CLIENTS.langchainOpenai,
  provenAnthropic: CLIENTS.langchainAnthropic,
  anthropic,
  messages,
  openai,
  tools,
});

/** Loaded from a package of their own, with their core, and without their types: the calls have the same form in both. */
function loadPrevious(): LangChain {
  const load = createRequire(new URL("langchain-0/package.json", import.meta.url));
  return {
    name: "LangChain 0",
    isCurrent: false,
    provenOpenai: CLIENTS.langchainOpenai0,
    provenAnthropic: CLIENTS.langchainAnthropic0,
    anthropic: load("@langchain/anthropic") as typeof anthropic,
    messages: load("@langchain/core/messages") as typeof messages,
    openai: load("@langchain/openai") as typeof openai,
    tools: load("@langchain/core/tools") as typeof tools,
  };
}

export const LANGCHAINS = firstOnPush([loadCurrent, loadPrevious]).map((load) => load());
