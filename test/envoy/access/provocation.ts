/** How the rows of the errors' table are provoked, and which of them are not. */
import type { ErrorCode } from "../../../src/contract/errors.ts";
import type { ChatStack } from "../../support/chat-stack.ts";
import { send } from "../edge/raw-client.ts";
import { type ErrorRoute, type Provocation, validBody } from "./error-rows.ts";

/** Errors that a client cannot bring about here, and where they are shown instead. */
export const NOT_PROVOKED: Readonly<Partial<Record<ErrorCode, string>>> = {
  request_timeout:
    "the shipped edge waits a minute for a body: local-replies.test.ts shows it with shorter waits",
  internal_error:
    "takes a fault of the gateway's own: request-stream.test.ts shows one, local-replies.test.ts a broken sidecar",
  identity_not_allowed: "takes a token of an identity provider: tokens/tokens.test.ts shows each reason",
  buffer_limit_exceeded: "many large bodies must be held at one moment: body-shares.test.ts shows it",
  gateway_overloaded:
    "large bodies of many organizations must be held at one moment: unit tests of the body budget show it",
};

/** What a row needs, for one route of a running stack. */
export function createProvocation(chat: ChatStack, route: ErrorRoute): Provocation {
  const port = Number(new URL(chat.stack.baseUrl).port);
  return {
    chat,
    route,
    createKey: (key, organization) => chat.stack.createKey(key, organization),
    send: (key, { method = "POST", path = route.path, headers = {}, body = validBody() } = {}) =>
      send(
        port,
        method,
        path,
        {
          "content-type": "application/json",
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body,
      ),
  };
}
