import { describe, expect, it, vi } from "vitest";
import { createDeferred } from "../../../src/shared/event-loop/deferred.ts";
import { ADMISSION_HEADER } from "../../../src/envoy/names.ts";
import { formatAwaitedHeader } from "../../../src/data-path/exchange/admission/admission-header.ts";
import type { AdmitAgain } from "../../../src/data-path/exchange/admission/admit-request.ts";
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
  const CALLER = { organizationId: "org_1", keyId: "key_1", presentedHash: "", userId: null, groupId: null };
  const LOST = { requestId: "req_1", caller: CALLER, extensions: { allowed_models: "acme/small" } };
  const AWAITED = { [ADMISSION_HEADER]: formatAwaitedHeader(LOST) };
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

  it.each([
    { what: "is admitted again", decision: ADMITTED, replied: "request_headers" },
    { what: "is refused", decision: REFUSED, replied: "immediate 429 slow" },
  ])("$what if another worker has let it pass, by what that worker knew", async ({ decision, replied }) => {
    const admitAgain = vi.fn<AdmitAgain>(async () => decision);
    const { send } = openStream({ admitAgain });
    const replies = await send(
      requestHeaders({}, { ...AWAITED, ":method": "POST", "content-length": "2" }),
      VALID,
    );
    expect(replies.map(kindOf)).toEqual([replied]);
    const request = { method: "POST", path: "/v1/chat/completions", headers: { "content-length": "2" } };
    expect(admitAgain.mock.calls).toMatchObject([[LOST, request]]);
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
