/** The majors of the Anthropic SDK for Python that are in use; see `python/requirements*.txt`. */
import type { ChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
import { withPython } from "../support/python.ts";
import { messageParams } from "./anthropic-sdks.ts";
import { type Client, CLIENTS } from "./clients.ts";

export interface PythonSdk {
  readonly name: string;
  readonly proven: Client;
  /** Null: the current one. */
  readonly older: string | null;
  /** The header by which it sends its key. */
  readonly keyHeader: "authorization" | "x-api-key";
  /** Only the current one has fields and classes for all that an error says. */
  readonly isCurrent: boolean;
}

export const PYTHON_SDKS = firstOnPush<PythonSdk>([
  {
    name: "anthropic 2 for Python",
    proven: CLIENTS.pythonAnthropic,
    older: null,
    keyHeader: "authorization",
    isCurrent: true,
  },
  {
    name: "anthropic 1 for Python",
    proven: CLIENTS.pythonAnthropic1,
    older: "anthropic-1",
    keyHeader: "x-api-key",
    isCurrent: false,
  },
  {
    name: "anthropic 0 for Python",
    proven: CLIENTS.pythonAnthropic0,
    older: "anthropic-0",
    keyHeader: "x-api-key",
    isCurrent: false,
  },
]);

/** Plays one scenario and gives what the caller of the SDK sees. */
export type CallPython = (scenario: string, params?: object, input?: object) => Promise<unknown>;

/** For the tests of a `describe`. */
export function withPythonSdk(chat: ChatStack, { older }: PythonSdk): CallPython {
  const player = withPython("anthropic_messages.py", older);
  return (scenario, params = {}, input = {}) => {
    const common = {
      base_url: chat.stack.baseUrl,
      api_key: chat.key.key,
      params: messageParams({ max_tokens: 10_000, ...params }),
    };
    return player.play(scenario, { ...common, ...input });
  };
}
