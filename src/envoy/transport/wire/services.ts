/** The gRPC services that Envoy calls: messages off a stream to the handlers, and their replies back. */
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
import { ProcessStream, type ProcessTransport } from "../process-stream.ts";
import { MAX_CONCURRENT_STREAMS } from "./limits.ts";
import type { GrpcCallListener, WireStream } from "./stream.ts";

export class Services {
  readonly #handlers: EnvoyHandlers;
  readonly #health: HealthService;
  /** Checks under way, those of streams that are gone included: a peer that resets what it asks still costs them. */
  #checks = 0;

  constructor(handlers: EnvoyHandlers, health: HealthService) {
    this.#handlers = handlers;
    this.#health = health;
  }

  /** Begins a call. */
  serve(stream: WireStream): void {
    if (!stream.headers.isGrpc) {
      stream.refuse(415, "This is a gRPC server.\n");
      return;
    }
    switch (stream.headers.path) {
      case PROCESS.path:
        stream.start(new ProcessService(stream, this.#handlers));
        break;
      case CHECK.path:
        this.#serveCheck(stream);
        break;
      case HEALTH_CHECK.path:
        this.#serveHealthCheck(stream);
        break;
      case HEALTH_WATCH.path:
        this.#serveHealthWatch(stream);
        break;
      case ACCESS_LOG.path:
        stream.start(new AccessLogService(stream, this.#handlers));
        break;
      default:
        stream.fail(GRPC_STATUS.unimplemented, "there is no such method");
    }
  }

  #serveCheck(stream: WireStream): void {
    if (this.#checks >= MAX_CONCURRENT_STREAMS) {
      stream.fail(GRPC_STATUS.resourceExhausted, "too many checks are under way");
      return;
    }
    stream.start(new UnaryService(stream, CHECK, (request) => void this.#answerCheck(stream, request)));
  }

  async #answerCheck(stream: WireStream, request: Parameters<EnvoyHandlers["check"]>[0]): Promise<void> {
    this.#checks += 1;
    try {
      sendMessage(stream, CHECK, await this.#handlers.check(request, stream));
      stream.end();
    } catch (error) {
      // Only if the handler breaks its promise never to reject. Envoy refuses the request.
      const name = error instanceof Error ? error.name : "unknown";
      stream.fail(GRPC_STATUS.internal, `the check failed: ${name}`);
    } finally {
      this.#checks -= 1;
    }
  }

  #serveHealthCheck(stream: WireStream): void {
    const answer = ({ service = "" }: { service?: string }) => {
      const response = this.#health.check(service);
      if (response === null) {
        stream.fail(GRPC_STATUS.notFound, "there is no such service");
        return;
      }
      sendMessage(stream, HEALTH_CHECK, response);
      stream.end();
    };
    stream.start(new UnaryService(stream, HEALTH_CHECK, answer));
  }

  #serveHealthWatch(stream: WireStream): void {
    let stop = () => {};
    const watch = ({ service = "" }: { service?: string }) => {
      stop = this.#health.watch(service, (response) => sendMessage(stream, HEALTH_WATCH, response));
    };
    stream.start(new UnaryService(stream, HEALTH_WATCH, watch, () => stop()));
  }
}

/**
 * One request message, whatever may follow. It is looked at once all that came with it has been read: of a flood of
 * requests that clients take back, most resets come with what they reset, and cost a few bytes then, not a check.
 */
class UnaryService<Request> implements GrpcCallListener {
  readonly #onClose: () => void;
  readonly #stream: WireStream;
  readonly #codec: Pick<MethodCodec<Request, unknown>, "decodeRequest">;
  readonly #handle: (request: Request) => void;
  #isHandled = false;
  #isClosed = false;

  constructor(
    stream: WireStream,
    codec: Pick<MethodCodec<Request, unknown>, "decodeRequest">,
    handle: (request: Request) => void,
    onClose: () => void = () => {},
  ) {
    this.#stream = stream;
    this.#codec = codec;
    this.#handle = handle;
    this.#onClose = onClose;
  }

  onMessage(bytes: Buffer): void {
    if (this.#isHandled) return;
    this.#isHandled = true;
    queueMicrotask(() => {
      if (this.#isClosed) return;
      const request = parseMessage(this.#stream, this.#codec, bytes);
      if (request !== null) this.#handle(request);
    });
  }

  onClose(): void {
    this.#isClosed = true;
    this.#onClose();
  }

  onHalfClose(): void {
    if (!this.#isHandled) this.#stream.fail(GRPC_STATUS.internal, "there is no request message");
  }
}

/** The access log: messages, for as long as Envoy likes. */
class AccessLogService implements GrpcCallListener {
  readonly #stream: WireStream;
  readonly #handlers: EnvoyHandlers;

  constructor(stream: WireStream, handlers: EnvoyHandlers) {
    this.#stream = stream;
    this.#handlers = handlers;
  }

  onMessage(bytes: Buffer): void {
    const message = parseMessage(this.#stream, ACCESS_LOG, bytes);
    if (message !== null) this.#handlers.log(message);
  }

  onHalfClose(): void {
    this.#stream.end();
  }
}

/** ext_proc: the rules are those of `ProcessStream`. */
class ProcessService implements GrpcCallListener, ProcessTransport {
  readonly #stream: WireStream;
  readonly #process: ProcessStream;

  constructor(stream: WireStream, handlers: EnvoyHandlers) {
    this.#stream = stream;
    this.#process = new ProcessStream(this, handlers);
  }

  onMessage(bytes: Buffer): void {
    const request = parseMessage(this.#stream, PROCESS, bytes);
    if (request !== null) this.#process.receive(request);
  }

  onHalfClose(): void {
    this.#process.halfClose();
  }

  onClose(): void {
    this.#process.close();
  }

  send(response: Parameters<ProcessTransport["send"]>[0]): void {
    sendMessage(this.#stream, PROCESS, response);
  }

  endOk(): void {
    this.#stream.end();
  }

  endWithError(reason: string): void {
    this.#stream.fail(GRPC_STATUS.aborted, reason);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }
}
