/**
 * A sidecar that does what a test tells it, over Envoy's published messages: nothing of the gateway's own handlers is in
 * it, so these tests are about Envoy's configuration alone.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Server, ServerCredentials, loadPackageDefinition } from "@grpc/grpc-js";
import type {
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServiceDefinition,
  sendUnaryData,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { ADMISSION_HEADER, UPSTREAM_HEADER } from "../../../src/envoy/names.ts";

/** The parts of Envoy's messages that the tests read; as proto-loader gives them. */
export interface CheckCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}
export interface ProcessingMessage {
  readonly request_headers?: { headers: { headers: readonly RawHeader[] }; end_of_stream: boolean } | null;
  readonly request_body?: { body: Buffer; end_of_stream: boolean } | null;
  readonly response_headers?: { headers: { headers: readonly RawHeader[] }; end_of_stream: boolean } | null;
  readonly response_body?: { body: Buffer; end_of_stream: boolean } | null;
  readonly attributes?: Readonly<Record<string, unknown>>;
}
interface RawHeader {
  readonly key: string;
  readonly value: string;
  readonly raw_value: Buffer;
}
export type ProcessingStream = ServerDuplexStream<ProcessingMessage, object>;
export type CheckHandler = (call: CheckCall) => object | Promise<object>;
/** Answers one message; null: gives no answer at all. */
export type ProcessingHandler = (message: ProcessingMessage, stream: ProcessingStream) => object | null;

export const REQUEST_ID = "req_0190aaaa-0000-7000-8000-000000000001";
export const REMAINING = "41";

const packageFolder = dirname(createRequire(import.meta.url).resolve("@grpc/grpc-js-xds/package.json"));
const protoFolders = ["envoy-api", "googleapis", "xds", "protoc-gen-validate"].map((name) =>
  join(packageFolder, "deps", name),
);

export class SidecarStandIn {
  onCheck: CheckHandler = admitGoodKey;
  onProcess: ProcessingHandler = passOn;
  readonly checks: CheckCall[] = [];
  readonly messages: ProcessingMessage[] = [];
  readonly #socket: string;
  #server: Server | null = null;

  constructor(socket: string) {
    this.#socket = socket;
  }

  /** Every handler and record as new. */
  reset(): void {
    this.onCheck = admitGoodKey;
    this.onProcess = passOn;
    this.checks.length = 0;
    this.messages.length = 0;
  }

  async start(): Promise<void> {
    const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
    const [check, process, accessLog] = loadServices();
    server.addService(check, { Check: (call: UnaryCall, done: Done) => void this.#check(call, done) });
    server.addService(process, { Process: (stream: ProcessingStream) => this.#process(stream) });
    server.addService(accessLog, { StreamAccessLogs: (call: LogCall) => void call.resume() });
    server.addService(HEALTH, { Check: (_call: UnaryCall, done: Done) => done(null, SERVING) });
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${this.#socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    this.#server = server;
  }

  /** As if the process had been killed. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = null;
  }

  async #check(call: UnaryCall, done: Done): Promise<void> {
    const { attributes } = call.request as { attributes: { request: { http: CheckCall } } };
    this.checks.push(attributes.request.http);
    done(null, await this.onCheck(attributes.request.http));
  }

  #process(stream: ProcessingStream): void {
    const pieces: Buffer[] = [];
    stream.on("data", (received: ProcessingMessage) => {
      const { request_body: piece } = received;
      if (piece) pieces.push(piece.body);
      // A body comes in pieces; its handler gets it whole.
      if (piece && !piece.end_of_stream) return;
      const message = piece
        ? { ...received, request_body: { ...piece, body: Buffer.concat(pieces) } }
        : received;
      this.messages.push(message);
      const reply = this.onProcess(message, stream);
      if (reply !== null && !stream.destroyed) stream.write(reply);
    });
    stream.on("end", () => stream.end());
    stream.on("error", () => undefined);
  }
}

type LogCall = ServerReadableStream<object, object>;
type UnaryCall = ServerUnaryCall<object, object>;
type Done = sendUnaryData<object>;

/** Admits `Bearer good` and answers 401 to all else. */
export function admitGoodKey(call: CheckCall): object {
  return call.headers["authorization"] === "Bearer good" ? admit() : deny(401, "no key");
}

/** ext_authz's OK reply as the gateway gives it. */
export function admit(): object {
  const overwrite = (key: string, value: string) => ({
    header: { key, value },
    append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
  });
  return {
    status: { code: 0 },
    ok_response: {
      headers: [overwrite(ADMISSION_HEADER, "{}"), overwrite("x-request-id", REQUEST_ID)],
      response_headers_to_add: [
        overwrite("x-service-ratelimit-remaining", REMAINING),
        overwrite("x-request-id", REQUEST_ID),
        overwrite("request-id", REQUEST_ID),
      ],
    },
  };
}

/** A refusal, or any answer that ext_authz gives in place of the route. */
export function deny(status: number, body: string, headers: Record<string, string> = {}): object {
  return {
    status: { code: 7 },
    denied_response: {
      status: { code: status },
      headers: Object.entries(headers).map(([key, value]) => ({
        header: { key, value },
        append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
      })),
      body,
    },
    dynamic_metadata: { fields: { error_code: { stringValue: "invalid_api_key" } } },
  };
}

/** What the gateway does with a good request: upstream and path, once the body has come, then the response's head. */
export function passOn(message: ProcessingMessage): object | null {
  if (message.request_headers) return message.request_headers.end_of_stream ? goOn() : null;
  if (message.request_body) return route(message, "main", "/v1/chat/completions");
  if (message.response_headers) return { response_headers: {} };
  return { response_body: {} };
}

/** Of a response its headers alone are wanted. */
const HEADERS_OF_RESPONSE = { response_header_mode: "SEND", response_body_mode: "NONE" };

/** In reply to request headers: the request goes on as it is. */
export function goOn(): object {
  return { request_headers: {}, mode_override: HEADERS_OF_RESPONSE };
}

/** In reply to a request whose body has come: where it goes, with this body in place of its own. */
export function route(
  { request_body }: ProcessingMessage,
  upstream: string,
  path: string,
  body: string | null = null,
): object {
  return {
    request_headers: {
      response: {
        status: "CONTINUE_AND_REPLACE",
        header_mutation: { set_headers: [setHeader(UPSTREAM_HEADER, upstream), setHeader(":path", path)] },
        body_mutation: { body: body === null ? (request_body?.body ?? Buffer.alloc(0)) : Buffer.from(body) },
        clear_route_cache: true,
      },
    },
    mode_override: HEADERS_OF_RESPONSE,
  };
}

export function setHeader(key: string, value: string): object {
  return { header: { key, raw_value: Buffer.from(value) }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" };
}

export function immediate(status: number, body: string, details: string): object {
  return {
    immediate_response: {
      status: { code: status },
      headers: { set_headers: [setHeader("content-type", "application/json")] },
      body: Buffer.from(body),
      details,
    },
  };
}

/** The value of a header of one ext_proc message. */
export function readHeader(message: ProcessingMessage, name: string): string | undefined {
  const headers = (message.request_headers ?? message.response_headers)?.headers.headers ?? [];
  const found = headers.find((header) => header.key === name);
  return found === undefined ? undefined : found.raw_value.toString() || found.value;
}

function loadServices(): [ServiceDefinition, ServiceDefinition, ServiceDefinition] {
  const definition = loadSync(
    [
      "envoy/service/auth/v3/external_auth.proto",
      "envoy/service/ext_proc/v3/external_processor.proto",
      "envoy/service/accesslog/v3/als.proto",
    ],
    { includeDirs: protoFolders, keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true },
  );
  const tree = loadPackageDefinition(definition) as unknown as {
    envoy: {
      service: {
        auth: { v3: { Authorization: { service: ServiceDefinition } } };
        ext_proc: { v3: { ExternalProcessor: { service: ServiceDefinition } } };
        accesslog: { v3: { AccessLogService: { service: ServiceDefinition } } };
      };
    };
  };
  const { auth, ext_proc, accesslog } = tree.envoy.service;
  return [
    auth.v3.Authorization.service,
    ext_proc.v3.ExternalProcessor.service,
    accesslog.v3.AccessLogService.service,
  ];
}

/** `grpc.health.v1.HealthCheckResponse {status: SERVING}`. */
const SERVING = Buffer.from([0x08, 0x01]);
const asIs = (bytes: Buffer): Buffer => bytes;
const HEALTH = {
  Check: {
    path: "/grpc.health.v1.Health/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
} as unknown as ServiceDefinition;
