/** An ext_proc stream over an exchange without Redis, and messages as Envoy sends them. */
import { createCatalog } from "../../../src/data-path/catalog/catalog.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { ADMISSION_HEADER } from "../../../src/envoy/names.ts";
import { RequestStream } from "../../../src/envoy/request-stream.ts";
import type { SilentStream } from "../../../src/envoy/silence-watch.ts";
import { formatAdmissionHeader } from "../../../src/data-path/exchange/admission/admission-header.ts";
import type { AdmitAgain } from "../../../src/data-path/exchange/admission/admit-request.ts";
import { DeferredAdmissions } from "../../../src/data-path/exchange/admission/deferred-admissions.ts";
import type { Admission } from "../../../src/data-path/limits/admission.ts";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import { CountExchange } from "../../../src/data-path/exchange/count-exchange.ts";
import { Exchange } from "../../../src/data-path/exchange/exchange.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import {
  ADMISSION as ANY_ADMISSION,
  changeAdmission,
  createSettlement,
  type StoreScript,
} from "../settlement/settlement-fixture.ts";
import { endsReportedAs } from "../exchange/ends-fixture.ts";
import { createRecordingMeter } from "../exchange/meter-fixture.ts";
import type { Message } from "../../../src/envoy/messages/messages.ts";

export const MODEL = "acme/echo-small";
const CONFIG = parseConfig(
  `
upstreams: [{name: local, url: "http://127.0.0.1:8000", path_prefix: /v1}]
catalog:
  - id: ${MODEL}
    upstream: local
    upstream_model: echo
    context_window: 1000
    max_output_tokens: 100
    prices: {USD: {input: "1", output: "1"}}
`,
  { baseDir: "/", env: {} },
);

export const ADMISSION: Admission = changeAdmission(ANY_ADMISSION, {
  identity: { requestId: "req_1", route: "POST /v1/chat/completions" },
  rate: { limit: 60, capacity: 10, remaining: 9, resetMs: 1000, timeMs: 0, tokens: [] },
});

/** More than `limits.max_body_bytes`, as of the gateway's own. */
export const MAX_MESSAGE_BYTES = 1_100_000;

/** Resolves when it is true, or when a stream that does nothing more has had all the time it needs. */
export async function settle(isSettled: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20 && !isSettled(); turn += 1) await new Promise(setImmediate);
}

/** A stream whose replies, in order, are `replies`; a broken-off call is the last of them, as its reason. */
interface StreamScript extends StoreScript {
  readonly countPrompt?: () => Promise<number>;
  readonly admitAgain?: AdmitAgain;
}

export function openStream(script: StreamScript = {}) {
  const replies: (Message<"ProcessingResponse"> | string)[] = [];
  const logged: string[] = [];
  /** Streams that are watched for silence. */
  const silent: SilentStream[] = [];
  const { settlement, seen } = createSettlement(script);
  const catalog = createCatalog(CONFIG);
  const log = (_fields: object, message: string) => void logged.push(message);
  const logger = { error: log, warn: log };
  const { meter, finished } = createRecordingMeter();
  const services = {
    catalog: () => catalog,
    protocols: PROTOCOLS,
    settlement,
    budget: new BodyBudget({
      maxBodyBytes: 1_000_000,
      maxUpstreamBytes: 1_050_000,
      maxBufferedBytes: 1_000_000,
    }),
    reached: { has: () => true, note: () => undefined },
    ends: endsReportedAs(),
    nowMs: () => 0,
    logger,
    meter,
  };
  const missing = () => Promise.reject(new Error("not in this test"));
  /** Admissions whose body is on its way no longer. */
  const deferred = new DeferredAdmissions({ isServing: () => true, clock: { monotonicMs: () => 0 } });
  const stream = new RequestStream(
    {
      reply: (response) => void replies.push(response),
      pause: () => undefined,
      resume: () => undefined,
      fail: (reason) => void replies.push(reason),
    },
    {
      createExchange: (options) => new Exchange(options, services),
      createCount: (admission) =>
        new CountExchange(admission, {
          ...services,
          estimator: { countPrompt: script.countPrompt ?? missing },
        }),
      deferred,
      admitAgain: script.admitAgain ?? missing,
      protocols: PROTOCOLS,
      silence: {
        watch: (one) => {
          silent.push(one);
          return { onReceived: () => undefined, onSent: () => undefined, end: () => undefined };
        },
      },
      collecting: { budget: services.budget, maxBytes: MAX_MESSAGE_BYTES },
      logger,
    },
  );
  /** Sends a message and resolves with the replies that it and those before it got. */
  const send = async (...messages: object[]): Promise<(Message<"ProcessingResponse"> | string)[]> => {
    for (const message of messages) stream.onMessage(message);
    const expected = replies.length;
    // Every step of the stream is a few promises long.
    await settle(() => replies.length > expected);
    return replies;
  };
  const { budget } = services;
  return { stream, send, replies, logged, silent, seen, finished, deferred, budget };
}

export function headers(fields: Record<string, string>, endOfStream = false): object {
  const list = Object.entries(fields).map(([key, value]) => ({ key, raw_value: Buffer.from(value) }));
  return { headers: { headers: list }, end_of_stream: endOfStream };
}

/** As from the gateway's own bootstrap; `bodyMode` is another one's, null: not sent. */
export function requestHeaders(
  admission: Partial<Admission> = {},
  fields: Record<string, string> = {},
  bodyMode: string | null = "FULL_DUPLEX_STREAMED",
): object {
  const admissionHeader = formatAdmissionHeader({ ...ADMISSION, ...admission });
  return {
    request_headers: headers({
      ":path": "/v1/chat/completions",
      [ADMISSION_HEADER]: admissionHeader,
      ...fields,
    }),
    ...(bodyMode === null ? {} : { protocol_config: { request_body_mode: bodyMode } }),
  };
}

export const requestBody = (body: object | string): object => ({
  request_body: {
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    end_of_stream: true,
  },
});
export const VALID = requestBody({ model: MODEL, messages: [{ role: "user", content: "hi" }] });
export const STREAMED = requestBody({
  model: MODEL,
  messages: [{ role: "user", content: "hi" }],
  stream: true,
});
export const responseHeaders = (fields: Record<string, string>): object => ({
  response_headers: headers({ ":status": "200", ...fields }),
});
export const responseBody = (body: string | Uint8Array, endOfStream = true): object => ({
  response_body: { body: Buffer.from(body), end_of_stream: endOfStream },
});
export const JSON_TYPE = { "content-type": "application/json" };
export const COMPLETION = JSON.stringify({
  model: "echo",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
});

/** What kind of reply it is; of an immediate one also its status and code, of a broken-off call its reason. */
export function kindOf(reply: Message<"ProcessingResponse"> | string | undefined): string {
  if (reply === undefined || typeof reply === "string") return String(reply);
  const immediate = reply.immediate_response;
  if (!immediate) return Object.keys(reply).find((name) => /^re(?:quest|sponse)_/u.test(name)) ?? "nothing";
  const { error } = JSON.parse(String(immediate.body)) as { error?: { code?: string } };
  return `immediate ${String(immediate.status?.code)} ${error?.code ?? ""}`.trim();
}

/** Whether a piece of a streamed response is its last one. */
export function endOf(reply: Message<"ProcessingResponse"> | string): boolean | undefined {
  if (typeof reply === "string") return undefined;
  return reply.response_body?.response?.body_mutation?.streamed_response?.end_of_stream;
}
