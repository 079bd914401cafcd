/** An OpenTelemetry collector on loopback: takes spans by OTLP over gRPC and keeps them. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import protobuf from "protobufjs";

/** What is read of opentelemetry/proto/trace/v1/trace.proto; other fields are passed over. */
const PROTO = `syntax = "proto3";
message Value { string string_value = 1; }
message Attribute { string key = 1; Value value = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated Attribute attributes = 9;
}
message ScopeSpans { repeated Span spans = 2; }
message Resource { repeated Attribute attributes = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Export { repeated ResourceSpans resource_spans = 1; }`;
const EXPORT_PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

export interface CollectedSpan {
  /** Hexadecimal, as in `traceparent`. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly service: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface TraceCollector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that was received, for searches. */
  readonly bytes: string;
  close(): void;
}

interface Attributes {
  attributes?: { key: string; value?: { stringValue?: string } }[];
}
interface WireSpan extends Attributes {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId?: Uint8Array;
  name: string;
}
interface WireExport {
  resourceSpans?: { resource?: Attributes; scopeSpans?: { spans?: WireSpan[] }[] }[];
}

const toHex = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString("hex");
const toRecord = ({ attributes = [] }: Attributes = {}): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value?.stringValue ?? ""]));

export async function startTraceCollector(): Promise<TraceCollector> {
  const message = protobuf.parse(PROTO).root.lookupType("Export");
  const spans: CollectedSpan[] = [];
  const received: string[] = [];
  const server = new Server();
  const definition = {
    export: {
      path: EXPORT_PATH,
      requestStream: false,
      responseStream: false,
      requestSerialize: (bytes: Buffer) => bytes,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    },
  };
  server.addService(definition, {
    export: (call: { request: Buffer }, callback: (error: null, reply: Buffer) => void) => {
      received.push(call.request.toString("latin1"));
      const { resourceSpans = [] } = message.decode(call.request) as unknown as WireExport;
      for (const { resource, scopeSpans = [] } of resourceSpans) {
        for (const span of scopeSpans.flatMap((scope) => scope.spans ?? [])) {
          spans.push({
            traceId: toHex(span.traceId),
            spanId: toHex(span.spanId),
            parentSpanId: toHex(span.parentSpanId),
            name: span.name,
            service: toRecord(resource)["service.name"] ?? "",
            attributes: toRecord(span),
          });
        }
      }
      callback(null, Buffer.alloc(0));
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    get bytes() {
      return received.join("\n");
    },
    close: () => server.forceShutdown(),
  };
}
