/**
 * A sidecar that decides nothing, on grpc-js whatever the gateway runs on: lets every request pass to one upstream, every byte as
 * it came, with as many messages as the gateway exchanges. What it costs is Envoy's two calls and nothing else, the floor
 * under the gateway on this machine. A process of its own: `<socket> <upstream> <path>`, ends on SIGTERM.
 */
import type { ProcessingResponse } from "../../src/envoy/messages/codec.ts";
import { parseHeaderMap } from "../../src/envoy/messages/headers.ts";
import {
  AWAIT_BODY,
  createChunkReply,
  createLastChunkReply,
  createOkCheck,
  createResponseStartReply,
  createRouteReply,
  createWholeBodyReply,
} from "../../src/envoy/messages/format-replies.ts";
import { createEnvoyServer } from "../../src/envoy/server.ts";
import type { ProcessListener } from "../../src/envoy/transport/contract.ts";

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const EMPTY = new Uint8Array(0);
const METADATA = { fields: {} };

const [socketPath = "", upstream = "", path = ""] = process.argv.slice(2);

const server = createEnvoyServer({
  transport: "grpc-js",
  address: { socketPath },
  maxMessageBytes: MAX_MESSAGE_BYTES,
  handlers: {
    isServing: () => true,
    check: () => Promise.resolve(createOkCheck("", "", [])),
    openProcess: (call) => passThrough((response) => call.reply(response)),
  },
});
await server.listen();
console.log(JSON.stringify({ listening: true }));
process.on("SIGTERM", () => process.exit(0));

function passThrough(reply: (response: ProcessingResponse) => void): ProcessListener {
  let streams = false;
  return {
    onMessage({ request_headers, request_body, response_headers, response_body }) {
      if (request_headers !== undefined) {
        reply(AWAIT_BODY);
      } else if (request_body !== undefined) {
        reply(createRouteReply({ upstream, path, body: request_body.body ?? EMPTY }, [], METADATA));
      } else if (response_headers !== undefined) {
        const headers = parseHeaderMap(response_headers.headers);
        streams = headers["content-type"] === "text/event-stream";
        reply(createResponseStartReply(streams ? "stream" : "whole", [], []));
      } else if (response_body !== undefined) {
        const body = response_body.body ?? EMPTY;
        if (!streams) reply(createWholeBodyReply(body, [["content-type", "application/json"]], METADATA));
        else if (response_body.end_of_stream === true) reply(createLastChunkReply(body, METADATA));
        else reply(createChunkReply(body));
      }
    },
    onEnd: () => undefined,
  };
}
