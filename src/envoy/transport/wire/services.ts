/** gRPC services that Envoy calls: pass messages of a stream to the handlers, and their replies back. */
import {
  ACCESS_LOG,
  CHECK,
  HEALTH_CHECK,
  HEALTH_WATCH,
  type MethodCodec,
  PROCESS,
} from "../../messages/codec.ts";
import { parseMessage, sendMessage } from "./call-messages.ts";
import type { EnvoyHandlers } from "../contract.ts";
import { GRPC_STATUS } from "./grpc-status.ts";
import type { HealthService } from "../health-service.ts";
import { ReplyLedger, type ProcessTransport } from "../reply-ledger.ts";
import { MAX_CONCURRENT_STREAMS } from "./limits.ts";
import type { GrpcCallListener, GrpcCall } from "./grpc-call.ts";

export class Services {
  readonly #handlers: EnvoyHandlers;
  readonly #health: HealthService;
  /** Checks in progress, including those of closed streams: a peer that resets its requests still pays for them. */
  #checks = 0;

  constructor(handlers: EnvoyHandlers, health: HealthService) {
    this.#handlers = handlers;
    this.#health = health;
  }

  /** Starts a call. */
  serve(call: GrpcCall): void {
    if (!call.headers.isGrpc) {
      call.refuse(415, "This is a gRPC server.\n");
      return;
    }
    switch (call.headers.path) {
      case PROCESS.path:
        call.start(new ProcessService(call, this.#handlers));
        break;
      case CHECK.path:
        this.#serveCheck(call);
        break;
      case HEALTH_CHECK.path:
        this.#serveHealthCheck(call);
        break;
      case HEALTH_WATCH.path:
        this.#serveHealthWatch(call);
        break;
      case ACCESS_LOG.path:
        this.#serveAccessLog(call);
        break;
      default:
        call.fail(GRPC_STATUS.unimplemented, "there is no such method");
    }
  }

  #serveCheck(call: GrpcCall): void {
    if (this.#checks >= MAX_CONCURRENT_STREAMS) {
      call.fail(GRPC_STATUS.resourceExhausted, "too many checks are under way");
      return;
    }
    call.start(new UnaryService(call, CHECK, (request) => void this.#answerCheck(call, request)));
  }

  async #answerCheck(call: GrpcCall, request: Parameters<EnvoyHandlers["check"]>[0]): Promise<void> {
    this.#checks += 1;
    try {
      sendMessage(call, CHECK, await this.#handlers.check(request, call));
      call.end();
    } catch (error) {
      // Only if the handler breaks its promise never to reject. Envoy rejects the request.
      const name = error instanceof Error ? error.name : "unknown";
      call.fail(GRPC_STATUS.internal, `the check failed: ${name}`);
    } finally {
      this.#checks -= 1;
    }
  }

  #serveHealthCheck(call: GrpcCall): void {
    const answer = ({ service = "" }: { service?: string }) => {
      const response = this.#health.check(service);
      if (response === null) {
        call.fail(GRPC_STATUS.notFound, "there is no such service");
        return;
      }
      sendMessage(call, HEALTH_CHECK, response);
      call.end();
    };
    call.start(new UnaryService(call, HEALTH_CHECK, answer));
  }

  /** Messages arrive for as long as Envoy keeps the call open. */
  #serveAccessLog(call: GrpcCall): void {
    const onMessage = (bytes: Buffer): void => {
      const message = parseMessage(call, ACCESS_LOG, bytes);
      if (message !== null) this.#handlers.log(message);
    };
    call.start({ onMessage, onHalfClose: () => call.end() });
  }

  #serveHealthWatch(call: GrpcCall): void {
    let stop = () => {};
    const watch = ({ service = "" }: { service?: string }) => {
      stop = this.#health.watch(service, (response) => sendMessage(call, HEALTH_WATCH, response));
    };
    call.start(new UnaryService(call, HEALTH_WATCH, watch, () => stop()));
  }
}

/**
 * Call with one request message. It is handled after everything that arrived with it has been read: if
 * clients cancel a flood of requests, most resets arrive together with their requests, which then cost a few
 * bytes instead of a check.
 */
class UnaryService<Request> implements GrpcCallListener {
  readonly #onClose: () => void;
  readonly #call: GrpcCall;
  readonly #codec: Pick<MethodCodec<Request, unknown>, "decodeRequest">;
  readonly #handle: (request: Request) => void;
  #state: "waiting" | "asked" | "closed" = "waiting";

  constructor(
    call: GrpcCall,
    codec: Pick<MethodCodec<Request, unknown>, "decodeRequest">,
    handle: (request: Request) => void,
    onClose: () => void = () => {},
  ) {
    this.#call = call;
    this.#codec = codec;
    this.#handle = handle;
    this.#onClose = onClose;
  }

  onMessage(bytes: Buffer): void {
    if (this.#state !== "waiting") return;
    this.#state = "asked";
    queueMicrotask(() => {
      if (this.#state === "closed") return;
      const request = parseMessage(this.#call, this.#codec, bytes);
      if (request !== null) this.#handle(request);
    });
  }

  onClose(): void {
    this.#state = "closed";
    this.#onClose();
  }

  onHalfClose(): void {
    if (this.#state === "waiting") this.#call.fail(GRPC_STATUS.internal, "there is no request message");
  }
}

/** ext_proc call with the rules of `ReplyLedger`. */
class ProcessService implements GrpcCallListener, ProcessTransport {
  readonly #call: GrpcCall;
  readonly #process: ReplyLedger;

  constructor(call: GrpcCall, handlers: EnvoyHandlers) {
    this.#call = call;
    this.#process = new ReplyLedger(this, handlers);
  }

  onMessage(bytes: Buffer): void {
    const request = parseMessage(this.#call, PROCESS, bytes);
    if (request !== null) this.#process.receive(request);
  }

  onHalfClose(): void {
    this.#process.halfClose();
  }

  onClose(): void {
    this.#process.close();
  }

  send(response: Parameters<ProcessTransport["send"]>[0]): void {
    sendMessage(this.#call, PROCESS, response);
  }

  endOk(): void {
    this.#call.end();
  }

  endWithError(reason: string): void {
    this.#call.fail(GRPC_STATUS.aborted, reason);
  }

  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }
}
