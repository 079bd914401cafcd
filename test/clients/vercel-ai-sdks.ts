/** The two majors of the Vercel AI SDK that are in use, each with its providers. */
import * as anthropic from "@ai-sdk/anthropic";
import * as openai from "@ai-sdk/openai";
import * as ai from "ai";
import { firstOnPush } from "../support/extent.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { type Client, CLIENTS } from "./clients.ts";
import type { Route } from "./proofs.ts";

export interface VercelAi {
  readonly name: string;
  readonly proven: Client;
  readonly ai: typeof ai;
  readonly openai: typeof openai;
  readonly anthropic: typeof anthropic;
}

/** Loaded without their types: the calls of the tests have the same form in both. */
const [AI_6, OPENAI_3, ANTHROPIC_3]: readonly [string, string, string] = [
  "ai-6",
  "ai-sdk-openai-3",
  "ai-sdk-anthropic-3",
];

const loadCurrent = async (): Promise<VercelAi> => ({
  name: "the Vercel AI SDK 7",
  proven: CLIENTS.vercelAi,
  ai,
  openai,
  anthropic,
});

const loadPrevious = async (): Promise<VercelAi> => ({
  name: "the Vercel AI SDK 6",
  proven: CLIENTS.vercelAi6,
  ai: (await import(AI_6)) as typeof ai,
  openai: (await import(OPENAI_3)) as typeof openai,
  anthropic: (await import(ANTHROPIC_3)) as typeof anthropic,
});

const SDKS = await Promise.all(firstOnPush([loadCurrent, loadPrevious]).map((load) => load()));

interface Provider {
  readonly name: string;
  readonly route: Route;
  readonly createModel: (baseURL: string, apiKey: string) => ai.LanguageModel;
}

function listProviders(sdk: VercelAi): readonly Provider[] {
  return [
    {
      name: "anthropic",
      route: "/v1/messages",
      createModel: (baseURL, apiKey) => sdk.anthropic.createAnthropic({ baseURL, apiKey })(CHAT_MODEL),
    },
    {
      name: "openai.chat",
      route: "/v1/chat/completions",
      createModel: (baseURL, apiKey) => sdk.openai.createOpenAI({ baseURL, apiKey }).chat(CHAT_MODEL),
    },
    {
      name: "openai",
      route: "/v1/responses",
      createModel: (baseURL, apiKey) => sdk.openai.createOpenAI({ baseURL, apiKey })(CHAT_MODEL),
    },
  ];
}

/** Each provider of each major. */
export const PROVIDERS = SDKS.flatMap((sdk) => listProviders(sdk).map((provider) => ({ sdk, ...provider })));
