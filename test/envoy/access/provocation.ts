/** How the rows of the errors' table are provoked, and which of them are not. */
import type { ErrorCode } from "../../../src/shared/contract/errors.ts";
import type { ChatStack } from "../../support/chat-stack.ts";
import { send } from "../edge/raw-client.ts";
import { type ErrorRoute, type Provocation, validBody } from "./error-rows.ts";

/** An error that a client cannot bring about at every route of the table, and the test that shows it instead. */
interface ShownElsewhere {
  readonly why: string;
  readonly file: string;
  /** The name of the test as its file has it. */
  readonly test: string;
}

export const NOT_PROVOKED: Readonly<Partial<Record<ErrorCode, ShownElsewhere>>> = {
  request_timeout: {
    why: "the shipped edge waits a minute for a body: with shorter waits",
    file: "test/envoy/local-replies.test.ts",
    test: "tells the client of $name as $code",
  },
  internal_error: {
    why: "takes a fault of the gateway's own",
    file: "test/unit/envoy/request-stream.test.ts",
    test: "refuses a request without an admission, and says so in the log",
  },
  identity_not_allowed: {
    why: "takes a token of an identity provider",
    file: "test/envoy/tokens/tokens.test.ts",
    test: "is refused where a bound claim, a subject or an organization is missing, saying which",
  },
  guardrail_blocked: {
    why: "takes a guardrail in Envoy's chain",
    file: "test/envoy/guardrail.test.ts",
    test: "blocks a request as guardrail_blocked: nothing sent, nothing charged, on the list, and its entry gone",
  },
  buffer_limit_exceeded: {
    why: "many large bodies must be held at one moment",
    file: "test/envoy/body-shares.test.ts",
    test: "large answers that do not end take their own part: the rest are refused, and others are not",
  },
  gateway_overloaded: {
    why: "Envoy's heap must be full, or large bodies of many organizations held at one moment",
    file: "test/envoy/local-replies.test.ts",
    test: "answers gateway_overloaded on $path, before it asks the sidecar",
  },
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
