import type { Http2SecureServer, Http2Server } from "node:http2";
import { Server as NetServer } from "node:net";
import {
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from "@grpc/grpc-js";
import {
  ACCESS_LOG,
  type StreamAccessLogsMessage,
  CHECK,
  HEALTH_CHECK,
  HEALTH_WATCH,
  PROCESS,
  type CheckRequest,
  type CheckResponse,
  type HealthCheckRequest,
  type HealthCheckResponse,
  type MethodCodec,
  type ProcessingRequest,
  type ProcessingResponse,
} from "../../messages/codec.ts";
import { createHealthService, type HealthService } from "../health-service.ts";
import { Http2Listener } from "./http2-listener.ts";
import { ReplyLedger } from "../reply-ledger.ts";
import type { EnvoyHandlers, EnvoyServer, EnvoyServerOptions } from "../contract.ts";
import { readSidecarCertificates, renewSidecarCertificates, type SidecarTlsOptions } from "../sidecar-tls.ts";

/** Envoy stops sending when its own buffers are full, so this many unread replies mean that it hangs. */
const MAX_UNSENT_REPLIES = 4_096;

/** Creates the transport on @grpc/grpc-js. */
export function createGrpcJsServer(options: EnvoyServerOptions): EnvoyServer {
  const { handlers, maxMessageBytes } = options;
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    // Unused debugging data, gathered per message.
    "grpc.enable_channelz": 0,
  });
  const listener = new Http2Listener(openHttp2Server(server, options), options);
  const health = createHealthService(() => !listener.isDraining && handlers.isServing());
  addProcess(server, handlers);
  addCheck(server, handlers);
  addAccessLog(server, handlers);
  addHealth(server, health);
  return {
    listen: async () => await listener.listen(),
    drain: async (boundMs) => await listener.drain(boundMs),
    async close() {
      await listener.close();
      server.forceShutdown();
    },
    get openStreams() {
      return listener.openStreams;
    },
  };
}

/**
 * Returns the node:http2 server inside a gRPC server, not listening yet. grpc-js has no option for HTTP/2
 * windows of a server (`grpc-node.flow_control_window` is the client's), and 64 kB halves the throughput of
 * larger bodies. A connection injector makes grpc-js create an HTTP/2 server without binding a port; it is
 * then read from a private field, the only use of a non-public interface of grpc-js.
 */
function openHttp2Server(
  server: Server,
  { tls = null, onCertificateProblem }: EnvoyServerOptions,
): Http2Server | Http2SecureServer {
  server.createConnectionInjector(createCredentials(tls));
  const { http2Servers } = server as unknown as { readonly http2Servers?: ReadonlyMap<unknown, unknown> };
  const [http2Server] = http2Servers?.keys() ?? [];
  if (!(http2Server instanceof NetServer) || !("updateSettings" in http2Server)) {
    throw new Error("this release of @grpc/grpc-js keeps its HTTP/2 server elsewhere: windows cannot be set");
  }
  if (tls === null) return http2Server as Http2Server;
  const secureServer = http2Server as Http2SecureServer;
  renewSidecarCertificates(secureServer, tls, (error) => onCertificateProblem?.(error));
  return secureServer;
}

function createCredentials(tls: SidecarTlsOptions | null): ServerCredentials {
  if (tls === null) return ServerCredentials.createInsecure();
  const { ca, cert, key } = readSidecarCertificates(tls);
  return ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true);
}

function addMethod<Request, Response>(
  server: Server,
  type: "unary" | "clientStream" | "serverStream" | "bidi",
  codec: MethodCodec<Request, Response>,
  handler: Parameters<typeof Server.prototype.register<Request, Response>>[1],
): void {
  server.register(codec.path, handler, codec.encodeResponse, codec.decodeRequest, type);
}

function addProcess(server: Server, handlers: EnvoyHandlers): void {
  addMethod(server, "bidi", PROCESS, (call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>) => {
    // Emits an error instead of calling destroy(): grpc-js then sends the error's status after everything written
    // before.
    const endWithError = (reason: string) => call.emit("error", { code: status.ABORTED, details: reason });
    const ledger = new ReplyLedger(
      {
        send(response) {
          if (call.writableLength >= MAX_UNSENT_REPLIES) endWithError("replies are not read");
          else call.write(response);
        },
        endOk: () => call.end(),
        endWithError,
        pause: () => void call.pause(),
        resume: () => void call.resume(),
      },
      handlers,
    );
    call.on("data", (request: ProcessingRequest) => ledger.receive(request));
    call.on("end", () => ledger.halfClose());
    call.on("cancelled", () => ledger.close());
    call.on("close", () => ledger.close());
  });
}

function addCheck(server: Server, handlers: EnvoyHandlers): void {
  addMethod(
    server,
    "unary",
    CHECK,
    (call: ServerUnaryCall<CheckRequest, CheckResponse>, callback: sendUnaryData<CheckResponse>) =>
      void answerCheck(handlers, call, callback),
  );
}

async function answerCheck(
  handlers: EnvoyHandlers,
  call: ServerUnaryCall<CheckRequest, CheckResponse>,
  callback: sendUnaryData<CheckResponse>,
): Promise<void> {
  // A call that is canceled in the same turn costs nothing more: otherwise thousands of them would block the
  // worker.
  await new Promise(setImmediate);
  if (call.cancelled) return;
  let response: CheckResponse;
  try {
    response = await handlers.check(call.request, {
      get isOver() {
        return call.cancelled;
      },
      onUnread: null,
    });
  } catch (error) {
    // Only if the handler breaks its promise never to reject. Envoy rejects the request.
    const name = error instanceof Error ? error.name : "unknown";
    callback({ code: status.INTERNAL, details: `the check failed: ${name}` });
    return;
  }
  callback(null, response);
}

function addAccessLog(server: Server, handlers: EnvoyHandlers): void {
  addMethod(
    server,
    "clientStream",
    ACCESS_LOG,
    (call: ServerReadableStream<StreamAccessLogsMessage, object>, callback: sendUnaryData<object>) => {
      call.on("data", (message: StreamAccessLogsMessage) => handlers.log(message));
      call.on("end", () => callback(null, {}));
    },
  );
}

function addHealth(server: Server, health: HealthService): void {
  addMethod(
    server,
    "unary",
    HEALTH_CHECK,
    (
      call: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
      callback: sendUnaryData<HealthCheckResponse>,
    ) => {
      const response = health.check(call.request.service ?? "");
      if (response === null) callback({ code: status.NOT_FOUND, details: "there is no such service" });
      else callback(null, response);
    },
  );
  addMethod(
    server,
    "serverStream",
    HEALTH_WATCH,
    (call: ServerWritableStream<HealthCheckRequest, HealthCheckResponse>) => {
      const stop = health.watch(call.request.service ?? "", (response) => call.write(response));
      call.on("cancelled", stop);
      call.on("close", stop);
    },
  );
}
