/** A picker of endpoints as the Gateway API Inference Extension has it: ext_proc with whole requests, one header in reply. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { Server, ServerCredentials, loadPackageDefinition } from "@grpc/grpc-js";
import type { ServerDuplexStream, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { setHeader } from "./sidecar-stand-in.ts";

interface Message {
  readonly request_headers?: object | null;
  readonly request_body?: { body: Buffer; end_of_stream: boolean } | null;
}

const PROTO = fileURLToPath(new URL("../../../proto", import.meta.url));

export class EndpointPicker {
  /** "127.0.0.1:8000" for a request's body; null: names none. */
  choose: (body: string) => string | null = () => null;
  /** Answers every request itself, with this status. */
  refuseWith: number | null = null;
  readonly bodies: string[] = [];
  #server: Server | null = null;

  /** @returns Its port. */
  async start(): Promise<number> {
    const port = await takePort();
    const server = new Server();
    server.addService(loadService(), { Process: (stream: Stream) => this.#process(stream) });
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    this.#server = server;
    return port;
  }

  stop(): void {
    this.#server?.forceShutdown();
    this.#server = null;
  }

  /** Headers are answered when the body is whole, as the real one does: the choice may depend on the prompt. */
  #process(stream: Stream): void {
    const chunks: Buffer[] = [];
    stream.on("data", ({ request_body: part }: Message) => {
      if (!part) return;
      chunks.push(part.body);
      if (!part.end_of_stream) return;
      const body = Buffer.concat(chunks);
      this.bodies.push(body.toString());
      if (this.refuseWith !== null) {
        stream.write({ immediate_response: { status: { code: this.refuseWith } } });
        return;
      }
      const endpoint = this.choose(body.toString());
      const set = endpoint === null ? [] : [setHeader("x-gateway-destination-endpoint", endpoint)];
      const response = { header_mutation: { set_headers: set }, clear_route_cache: true };
      stream.write({ request_headers: { response } });
      const streamed = { body, end_of_stream: true };
      stream.write({ request_body: { response: { body_mutation: { streamed_response: streamed } } } });
    });
    stream.on("end", () => stream.end());
    stream.on("error", () => undefined);
  }
}

type Stream = ServerDuplexStream<Message, object>;

async function takePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

function loadService(): ServiceDefinition {
  const definition = loadSync("envoy/service/ext_proc/v3/external_processor.proto", {
    includeDirs: [PROTO],
    keepCase: true,
    enums: String,
    oneofs: true,
  });
  const tree = loadPackageDefinition(definition) as unknown as {
    envoy: { service: { ext_proc: { v3: { ExternalProcessor: { service: ServiceDefinition } } } } };
  };
  return tree.envoy.service.ext_proc.v3.ExternalProcessor.service;
}
