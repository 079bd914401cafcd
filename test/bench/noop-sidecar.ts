/**
 * A sidecar that decides nothing, on grpc-js and proto-loader as they come, whatever the gateway runs on and however it is
 * improved: the yardstick. It lets every request pass to one upstream, every byte as it came, by the usual modes of ext_proc:
 * bodies that are asked for and come whole, a reply to each message. What it costs is Envoy's two calls and nothing else. A
 * process of its own:
 * `<socket> <upstream> <path>`, ends on SIGTERM.
 */
import { Server, ServerCredentials, type ServerDuplexStream, type ServerUnaryCall } from "@grpc/grpc-js";
import type { sendUnaryData } from "@grpc/grpc-js";
import type {
  CheckRequest,
  CheckResponse,
  HealthCheckRequest,
  HealthCheckResponse,
  ProcessingRequest,
  ProcessingResponse,
} from "../../src/envoy/messages/codec.ts";
import {
  GENERIC_CHECK,
  GENERIC_HEALTH_CHECK,
  GENERIC_PROCESS,
} from "../../src/envoy/messages/generic-codec.ts";
import { findHeader, formatRawHeader } from "../../src/envoy/messages/headers.ts";
import { UPSTREAM_HEADER } from "../../src/envoy/names.ts";
import {
  createChunkReply,
  createLastChunkReply,
  createOkCheck,
} from "../../src/envoy/messages/format-replies.ts";

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const EMPTY = new Uint8Array(0);
const METADATA = { fields: {} };
const PASSED = createOkCheck({ admissionHeader: "", requestId: "", worker: null, responseHeaders: [] }, {});
const AWAIT_BODY: ProcessingResponse = {
  request_headers: { response: {} },
  mode_override: {
    request_header_mode: "SEND",
    request_body_mode: "BUFFERED",
    response_header_mode: "SEND",
    response_body_mode: "BUFFERED",
  },
};
const WHOLE_FOLLOWS: ProcessingResponse = { response_headers: { response: {} } };
const STREAM_FOLLOWS: ProcessingResponse = {
  ...WHOLE_FOLLOWS,
  mode_override: {
    response_header_mode: "SEND",
    response_body_mode: "FULL_DUPLEX_STREAMED",
    response_trailer_mode: "SEND",
  },
};

const [socketPath = "", upstream = "", path = ""] = process.argv.slice(2);

const server = new Server({
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
});
server.register(
  GENERIC_CHECK.path,
  (_call: ServerUnaryCall<CheckRequest, CheckResponse>, answer: sendUnaryData<CheckResponse>) =>
    answer(null, PASSED),
  GENERIC_CHECK.encodeResponse,
  GENERIC_CHECK.decodeRequest,
  "unary",
);
server.register(
  GENERIC_HEALTH_CHECK.path,
  (
    _call: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
    answer: sendUnaryData<HealthCheckResponse>,
  ) => answer(null, { status: "SERVING" }),
  GENERIC_HEALTH_CHECK.encodeResponse,
  GENERIC_HEALTH_CHECK.decodeRequest,
  "unary",
);
server.register(
  GENERIC_PROCESS.path,
  (call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>) => {
    const onMessage = passThrough((response) => call.write(response));
    call.on("data", onMessage);
    call.on("end", () => call.end());
  },
  GENERIC_PROCESS.encodeResponse,
  GENERIC_PROCESS.decodeRequest,
  "bidi",
);
server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
  console.log(JSON.stringify({ listening: true }));
});
process.on("SIGTERM", () => process.exit(0));

function passThrough(reply: (response: ProcessingResponse) => void): (message: ProcessingRequest) => void {
  let streams = false;
  return ({ request_headers, request_body, response_headers, response_body }) => {
    if (request_headers !== undefined) {
      reply(AWAIT_BODY);
    } else if (request_body !== undefined) {
      reply(createBodyRouteReply(request_body.body ?? EMPTY, upstream, path));
    } else if (response_headers !== undefined) {
      streams = findHeader(response_headers.headers, "content-type") === "text/event-stream";
      reply(streams ? STREAM_FOLLOWS : WHOLE_FOLLOWS);
    } else if (response_body !== undefined) {
      const body = response_body.body ?? EMPTY;
      if (!streams) reply(createWholeReply(body));
      else if (response_body.end_of_stream === true) reply(createLastChunkReply(body, METADATA));
      else reply(createChunkReply(body));
    }
  };
}

function createWholeReply(body: Uint8Array): ProcessingResponse {
  const length = formatRawHeader("content-length", String(body.byteLength));
  const set_headers = [formatRawHeader("content-type", "application/json"), length];
  return {
    response_body: { response: { header_mutation: { set_headers }, body_mutation: { body } } },
    dynamic_metadata: METADATA,
  };
}

/** Routes a request whose body came for the asking. */
function createBodyRouteReply(body: Uint8Array, upstream: string, path: string): ProcessingResponse {
  const set_headers = [
    formatRawHeader(UPSTREAM_HEADER, upstream),
    formatRawHeader(":path", path),
    formatRawHeader("content-type", "application/json"),
    formatRawHeader("content-length", String(body.byteLength)),
  ];
  const response = {
    header_mutation: { set_headers, remove_headers: [] },
    body_mutation: { body },
    clear_route_cache: true,
  };
  return { request_body: { response }, dynamic_metadata: METADATA };
}
