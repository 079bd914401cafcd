/** What most tests of the chat route want: one scripted upstream behind one stack, and a key with room. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { CHAT_MODEL } from "./gateway-config.ts";
import type { HttpAnswer, SendOptions } from "./http.ts";
import type { Stack, StackOptions } from "./stack.ts";
import type { CreatedKey } from "./test-key.ts";
import { type ScriptedUpstream, startUpstream } from "./upstream.ts";
import { withStack } from "./with-stack.ts";

export const CHAT_PATH = "/v1/chat/completions";

export interface ChatStack {
  readonly stack: Stack;
  /** Scripts and records are forgotten before each test. */
  readonly upstream: ScriptedUpstream;
  /** A key of 1,000,000 requests a minute, without caps. */
  readonly key: CreatedKey;
  /** `POST /v1/chat/completions` with that key; path, key and the rest as given otherwise. */
  send(options: Partial<SendOptions> & { readonly key?: string | null }): Promise<HttpAnswer>;
}

/** Starts upstream, stack and key for all tests of a file. The fields are there from the first test on. */
export function withChatStack(
  createOptions: (
    upstream: ScriptedUpstream,
  ) => Partial<StackOptions> | Promise<Partial<StackOptions>> = () => ({}),
): ChatStack {
  const started: { upstream?: ScriptedUpstream; key?: CreatedKey } = {};
  const getStack = withStack(async () => {
    started.upstream = await startUpstream();
    const upstreams = [{ name: "local", url: started.upstream.url, path_prefix: "/v1" }];
    return { upstreams, ...(await createOptions(started.upstream)) };
  });
  beforeAll(async () => {
    started.key = await getStack().createKey();
  });
  beforeEach(() => started.upstream?.reset());
  afterAll(async () => started.upstream?.close());
  const chat: ChatStack = {
    get stack() {
      return getStack();
    },
    get upstream() {
      return required(started.upstream);
    },
    get key() {
      return required(started.key);
    },
    send: (options) => getStack().send({ path: CHAT_PATH, key: chat.key.key, ...options }),
  };
  return chat;
}

/** A small chat request for the test catalog's model. */
export function chatBody(fields: object = {}, content = "hello big world"): Record<string, unknown> {
  return { model: CHAT_MODEL, messages: [{ role: "user", content }], ...fields };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("used before the stack was started");
  return value;
}
