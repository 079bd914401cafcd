/** What most tests of the chat route want: one scripted upstream behind one stack, and a key with room. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { CHAT_MODEL } from "./gateway-config.ts";
import type { HttpAnswer, SendOptions } from "./http.ts";
import { type Stack, type StackOptions, startStack } from "./stack.ts";
import type { CreatedKey } from "./test-key.ts";
import { type ScriptedUpstream, startUpstream } from "./upstream.ts";
import { endWithProcess, showingLogs, withStack } from "./with-stack.ts";

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
  let upstream: ScriptedUpstream | null = null;
  const getStack = withStack(async () => {
    upstream = await startUpstream();
    return { upstreams: listUpstreams(upstream), ...(await createOptions(upstream)) };
  });
  afterAll(async () => upstream?.close());
  return createChat(getStack, () => upstream);
}

interface Shared {
  readonly stack: Stack;
  readonly upstream: ScriptedUpstream;
}

/** This process's, for its files in turn. */
let shared: Shared | null = null;

/**
 * The same for files that need nothing but the defaults and leave the stack as they found it: they have one in turn, which
 * saves each two seconds of a core. Each has a key of its own.
 */
export function withSharedChatStack(): ChatStack {
  const getStack = showingLogs(async () => {
    shared ??= await startShared();
    return shared.stack;
  });
  return createChat(getStack, () => shared?.upstream ?? null);
}

async function startShared(): Promise<Shared> {
  const upstream = await startUpstream();
  const stack = await startStack({ upstreams: listUpstreams(upstream) });
  endWithProcess(stack);
  return { stack, upstream };
}

function listUpstreams({ url }: ScriptedUpstream): StackOptions["upstreams"] {
  return [{ name: "local", url, path_prefix: "/v1" }];
}

function createChat(getStack: () => Stack, findUpstream: () => ScriptedUpstream | null): ChatStack {
  let key: CreatedKey | null = null;
  beforeAll(async () => {
    key = await getStack().createKey();
  });
  beforeEach(() => findUpstream()?.reset());
  const chat: ChatStack = {
    get stack() {
      return getStack();
    },
    get upstream() {
      return required(findUpstream());
    },
    get key() {
      return required(key);
    },
    send: (options) => getStack().send({ path: CHAT_PATH, key: chat.key.key, ...options }),
  };
  return chat;
}

/** A small chat request for the test catalog's model. */
export function chatBody(fields: object = {}, content = "hello big world"): Record<string, unknown> {
  return { model: CHAT_MODEL, messages: [{ role: "user", content }], ...fields };
}

function required<T>(value: T | null): T {
  if (value === null) throw new Error("used before the stack was started");
  return value;
}
