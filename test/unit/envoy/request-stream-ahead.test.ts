import { describe, expect, it } from "vitest";
import { createDeferred } from "../../../src/shared/event-loop/deferred.ts";
import { ADMISSION_HEADER } from "../../../src/envoy/names.ts";
import type { Decision } from "../../../src/data-path/exchange/admission/decision.ts";
import {
  ADMISSION,
  COMPLETION,
  JSON_TYPE,
  kindOf,
  openStream,
  requestHeaders,
  responseBody,
  responseHeaders,
  settle,
  STREAMED,
  VALID,
} from "./request-stream-fixture.ts";
import type { Message } from "../../../src/envoy/messages/messages.ts";

describe("RequestStream of a request whose admission is under way", () => {
  const AWAITED = { [ADMISSION_HEADER]: "awaited req_1 messages" };
  const REFUSED: Decision = {
    kind: "refused",
    reply: {
      status: 429,
      headers: [["x-service-ratelimit-remaining", "0"]],
      body: '{"error":{"code":"slow"}}',
    },
    log: { keyId: "key_1", organizationId: "org_1", errorCode: "slow" },
  };
  const ADMITTED: Decision = { kind: "admitted", admission: ADMISSION };

  it("sends nothing upstream before it is decided, and tells the client then what ext_authz could not", async () => {
    const { send, replies, deferred, seen } = openStream();
    const { promise, resolve } = createDeferred<Decision>();
    deferred.defer("req_1", ADMISSION.caller, promise);
    await send(requestHeaders({}, AWAITED), VALID);
    expect(replies).toEqual([]);
    expect(seen.opened).toEqual([]);
    resolve(ADMITTED);
    await settle(() => replies.length > 0);
    expect(replies.map(kindOf)).toEqual(["request_headers"]);
    await send(responseHeaders(JSON_TYPE), responseBody(COMPLETION));
    await settle(() => replies.length > 1);
    const [, answer] = replies as Message<"ProcessingResponse">[];
    const set = answer?.response_headers?.response?.header_mutation?.set_headers ?? [];
    const value = (name: string) => String(set.find(({ header }) => header?.key === name)?.header?.raw_value);
    expect(value("x-service-ratelimit-remaining")).toBe("9");
    expect(value("x-ratelimit-limit-requests")).toBe("60");
  });

  it("tells it with the beginning of a stream", async () => {
    const { send, replies, deferred } = openStream();
    deferred.defer("req_1", ADMISSION.caller, Promise.resolve(ADMITTED));
    await send(requestHeaders({}, AWAITED), STREAMED);
    await send(responseHeaders({ "content-type": "text/event-stream" }));
    const started = replies.at(-1) as Message<"ProcessingResponse">;
    const set = started.response_headers?.response?.header_mutation?.set_headers ?? [];
    expect(set.map(({ header }) => header?.key)).toContain("x-service-ratelimit-remaining");
  });

  it.each(["before", "after"])("refuses it as ext_authz would, decided %s it comes", async (when) => {
    const { send, replies, deferred, seen } = openStream();
    const { promise, resolve } = createDeferred<Decision>();
    deferred.defer("req_1", ADMISSION.caller, promise);
    if (when === "before") resolve(REFUSED);
    await send(requestHeaders({}, AWAITED), VALID);
    resolve(REFUSED);
    await settle(() => replies.length > 0);
    expect(replies.map(kindOf)).toEqual(["immediate 429 slow"]);
    expect(seen.opened).toEqual([]);
    expect((replies[0] as Message<"ProcessingResponse">).dynamic_metadata?.fields).toMatchObject({
      inference_gateway: { structValue: { fields: { error_code: { stringValue: "slow" } } } },
    });
  });

  it("is 503 in its protocol's envelope where another process has let it pass", async () => {
    const { send, seen } = openStream();
    const replies = await send(requestHeaders({}, AWAITED), VALID);
    expect(replies.map(kindOf)).toEqual(["immediate 503 gateway_unavailable"]);
    const { immediate_response: reply } = replies[0] as Message<"ProcessingResponse">;
    expect(JSON.parse(String(reply?.body))).toMatchObject({ type: "error", request_id: "req_1" });
    expect(seen.opened).toEqual([]);
  });

  it("leaves nothing behind when the client goes away before it is decided", async () => {
    const { send, stream, replies, deferred, seen, finished } = openStream();
    const { promise, resolve } = createDeferred<Decision>();
    deferred.defer("req_1", ADMISSION.caller, promise);
    await send(requestHeaders({}, AWAITED), VALID);
    stream.onEnd();
    resolve(ADMITTED);
    await settle(() => finished.length > 0);
    expect(finished).toMatchObject([{ requestId: "req_1", status: 499 }]);
    expect(replies).toEqual([]);
    expect(seen.opened).toEqual([]);
  });
});
