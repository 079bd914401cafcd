/** The two majors of OpenAI's SDK for Node that are in use. */
import * as current from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import type { ChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
import { type Client, CLIENTS } from "./clients.ts";

/** Loaded without its types, which would double what the compiler reads: the calls of the tests have the same form in both. */
const PREVIOUS: string = "openai-6";

export interface OpenAiSdk {
  readonly name: string;
  readonly proven: Client;
  /** Its classes. */
  readonly module: typeof current;
  readonly zodTextFormat: typeof zodTextFormat;
}

const loadCurrent = async (): Promise<OpenAiSdk> => ({
  name: "openai 7 for Node",
  proven: CLIENTS.openai,
  module: current,
  zodTextFormat,
});

const loadPrevious = async (): Promise<OpenAiSdk> => ({
  name: "openai 6 for Node",
  proven: CLIENTS.openai6,
  module: (await import(PREVIOUS)) as typeof current,
  ...((await import(`${PREVIOUS}/helpers/zod`)) as { zodTextFormat: typeof zodTextFormat }),
});

export const OPENAI_SDKS = await Promise.all(firstOnPush([loadCurrent, loadPrevious]).map((load) => load()));

type Options = Pick<current.ClientOptions, "apiKey" | "maxRetries" | "fetch">;

/** Makes a client with the stack's key and without retries, unless other options are given. */
export function createOpenAi(
  { module }: OpenAiSdk,
  { stack, key }: Pick<ChatStack, "stack" | "key">,
  options: Options = {},
): current.OpenAI {
  return new module.OpenAI({ baseURL: `${stack.baseUrl}/v1`, apiKey: key.key, maxRetries: 0, ...options });
}
