import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";

import {
  CHECK,
  HEALTH_CHECK,
  HEALTH_WATCH,
  PROCESS,
  type CheckRequest,
  type HealthCheckRequest,
  type MethodCodec,
} from "../../messages/codec.ts";
import { GRPC_STATUS } from "../grpc-status.ts";
import { parseMessage, sendMessage } from "../call-messages.ts";
import { GrpcCall } from "./grpc-call.ts";
import { createHealthService, type HealthService } from "../health-service.ts";
import { Http2Listener } from "../http2-listener.ts";
import { ProcessStream } from "../process-stream.ts";
import type { EnvoyHandlers, EnvoyServer, EnvoyServerOptions } from "../contract.ts";
import { readSidecarCertificates, renewSidecarCertificates } from "../sidecar-tls.ts";

const SERVER_OPTIONS = {
  // In megabytes, over all streams of a connection; what a stream may hold is bounded by the size of its messages.
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
  // Node releases that have these: Envoy resets a call for each client that leaves early, and 33 a second, the
  // default, would get the whole connection a GOAWAY. Older releases ignore them.
  streamResetBurst: 1_000_000,
  streamResetRate: 1_000_000,
};

/** The transport on node:http2, with gRPC framing by hand. */
export function createHttp2Server(options: EnvoyServerOptions): EnvoyServer {
  const { handlers, maxMessageBytes } = options;
  const server = createPlainOrSecure(options);
  const listener = new Http2Listener(server, options);
  const health = createHealthService(() => !listener.isDraining && handlers.isServing());
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    if (headers[":method"] !== "POST" || headers["content-type"]?.startsWith("application/grpc") !== true) {
      stream.respond({ ":status": 415 }, { endStream: true });
      return;
    }
    serveCall(new GrpcCall(stream, maxMessageBytes), headers[":path"] ?? "", handlers, health);
  });
  return {
    listen: async () => await listener.listen(),
    drain: async (boundMs) => await listener.drain(boundMs),
    close: async () => await listener.close(),
    get openStreams() {
      return listener.openStreams;
    },
  };
}

function createPlainOrSecure({
  tls = null,
  onCertificateProblem,
}: EnvoyServerOptions): Http2Server | Http2SecureServer {
  if (tls === null) return createServer(SERVER_OPTIONS);
  const server = createSecureServer({
    ...SERVER_OPTIONS,
    ...readSidecarCertificates(tls),
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
  });
  renewSidecarCertificates(server, tls, (error) => onCertificateProblem?.(error));
  return server;
}

function serveCall(call: GrpcCall, path: string, handlers: EnvoyHandlers, health: HealthService): void {
  switch (path) {
    case PROCESS.path:
      serveProcess(call, handlers);
      break;
    case CHECK.path:
      serveCheck(call, handlers);
      break;
    case HEALTH_CHECK.path:
      serveHealthCheck(call, health);
      break;
    case HEALTH_WATCH.path:
      serveHealthWatch(call, health);
      break;
    default:
      call.start({});
      call.fail(GRPC_STATUS.unimplemented, "there is no such method");
  }
}

function serveProcess(call: GrpcCall, handlers: EnvoyHandlers): void {
  const stream = new ProcessStream(
    {
      send: (response) => sendMessage(call, PROCESS, response),
      endOk: () => call.end(),
      endWithError: (reason) => call.fail(GRPC_STATUS.aborted, reason),
      pause: () => {},
      resume: () => {},
    },
    handlers,
  );
  call.start({
    onMessage(bytes) {
      const request = parseMessage(call, PROCESS, bytes);
      if (request !== null) stream.receive(request);
    },
    onHalfClose: () => stream.halfClose(),
    onClose: () => stream.close(),
  });
}

function serveCheck(call: GrpcCall, handlers: EnvoyHandlers): void {
  startUnary(call, CHECK, (request) => void answerCheck(call, handlers, request));
}

async function answerCheck(call: GrpcCall, handlers: EnvoyHandlers, request: CheckRequest): Promise<void> {
  try {
    sendMessage(call, CHECK, await handlers.check(request));
    call.end();
  } catch (error) {
    // Only if the handler breaks its promise never to reject. Envoy refuses the request.
    call.fail(GRPC_STATUS.internal, formatFailure(error));
  }
}

function formatFailure(error: unknown): string {
  return `the check failed: ${error instanceof Error ? error.name : "unknown"}`;
}

function serveHealthCheck(call: GrpcCall, health: HealthService): void {
  startUnary(call, HEALTH_CHECK, (request) => {
    const response = health.check(request.service ?? "");
    if (response === null) {
      call.fail(GRPC_STATUS.notFound, "there is no such service");
      return;
    }
    sendMessage(call, HEALTH_CHECK, response);
    call.end();
  });
}

function serveHealthWatch(call: GrpcCall, health: HealthService): void {
  let stop = () => {};
  const handle = (request: HealthCheckRequest) => {
    stop();
    stop = health.watch(request.service ?? "", (response) => sendMessage(call, HEALTH_WATCH, response));
  };
  startUnary(call, HEALTH_WATCH, handle, () => stop());
}

/** One request message, whatever may follow. */
function startUnary<Request>(
  call: GrpcCall,
  codec: Pick<MethodCodec<Request, unknown>, "decodeRequest">,
  handle: (request: Request) => void,
  onClose?: () => void,
): void {
  let isHandled = false;
  call.start({
    onMessage(bytes) {
      const request = isHandled ? null : parseMessage(call, codec, bytes);
      isHandled = true;
      if (request !== null) handle(request);
    },
    onHalfClose() {
      if (!isHandled) call.fail(GRPC_STATUS.internal, "there is no request message");
    },
    ...(onClose === undefined ? {} : { onClose }),
  });
}
