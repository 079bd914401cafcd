/**
 * Guardrail: an ext_proc service that blocks requests and responses that contain a blocked word.
 *
 *   BLOCKED_WORDS=xylophone,zeppelin PORT=9100 node guardrail.mjs
 *
 * Replace `findReason` with a call to your own service. docs/guardrails.md explains the messages.
 */
import { fileURLToPath } from "node:url";
import { Server, ServerCredentials, loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const WORDS = (process.env.BLOCKED_WORDS ?? "").split(",").filter((word) => word !== "");
const MESSAGE = "The text contains a blocked word.";
/** Longest end of a stream that is searched again with its next piece. */
const MAX_KEPT_CHARACTERS = 10_000;
/** Text of one event of a stream on any of the routes. */
const PIECE = /"(?:content|text|delta)":\s*"((?:[^"\\]|\\.)*)"/g;
/** Asked for in the reply to the request: without this, the response passes unseen. */
const SEE_RESPONSE = {
  request_header_mode: "SEND",
  request_body_mode: "FULL_DUPLEX_STREAMED",
  request_trailer_mode: "SEND",
  response_header_mode: "SEND",
  response_body_mode: "FULL_DUPLEX_STREAMED",
  response_trailer_mode: "SEND",
};

/** Returns why a text is blocked; null if it may pass. */
function findReason(text) {
  return WORDS.some((word) => text.includes(word)) ? "blocked_word" : null;
}

/** Checks one request and its response. */
class Check {
  #stream;
  #path = "";
  #isStreamed = false;
  #held = [];
  #said = "";
  #rest = "";
  #isOver = false;

  constructor(stream) {
    this.#stream = stream;
  }

  take(message) {
    if (this.#isOver) return;
    if (message.request_headers) this.#onRequest(message.request_headers);
    else if (message.request_body) this.#hold("request", message.request_body);
    else if (message.request_trailers) this.#release("request", false);
    else if (message.response_headers) this.#onResponse(message.response_headers);
    else if (message.response_body && this.#isStreamed) this.#onPiece(message.response_body);
    else if (message.response_body) this.#hold("response", message.response_body);
    else if (message.response_trailers && !this.#isStreamed) this.#release("response", false);
    if (message.request_trailers) this.#reply({ request_trailers: {} });
    if (message.response_trailers) this.#reply({ response_trailers: {} });
  }

  #onRequest({ headers, end_of_stream: isWhole }) {
    this.#path = valueOf(headers, ":path");
    if (isWhole) this.#reply({ request_headers: {}, mode_override: SEE_RESPONSE });
  }

  #onResponse({ headers, end_of_stream: isWhole }) {
    this.#isStreamed = valueOf(headers, "content-type").startsWith("text/event-stream");
    if (isWhole || this.#isStreamed) this.#reply({ response_headers: {} });
  }

  /** Keeps a body until it is complete. Envoy keeps its headers until we reply to them. */
  #hold(side, { body, end_of_stream: isLast }) {
    this.#held.push(body);
    if (isLast) this.#release(side, true);
  }

  #release(side, isEnd) {
    const pieces = this.#held;
    this.#held = [];
    const reason = findReason(Buffer.concat(pieces).toString());
    if (reason !== null) {
      this.#isOver = true;
      this.#reply({
        immediate_response: { status: { code: 403 }, body: Buffer.from(MESSAGE) },
        ...blocked(reason),
      });
      return;
    }
    this.#reply({ [`${side}_headers`]: {}, ...(side === "request" ? { mode_override: SEE_RESPONSE } : {}) });
    for (const [index, body] of pieces.entries()) {
      this.#replyPiece(side, body, isEnd && index === pieces.length - 1);
    }
  }

  /** Passes a piece of a stream on, unless the text so far is blocked: then the stream ends with an error event. */
  #onPiece({ body, end_of_stream: isLast }) {
    const lines = (this.#rest + body.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    const added = [...lines.join("\n").matchAll(PIECE)].map(([, text]) => text).join("");
    this.#said = (this.#said + added).slice(-MAX_KEPT_CHARACTERS - added.length);
    const reason = findReason(this.#said);
    if (reason === null) {
      this.#replyPiece("response", body, isLast);
      return;
    }
    this.#isOver = true;
    this.#replyPiece("response", Buffer.from(errorEvent(this.#path)), true, blocked(reason));
  }

  #replyPiece(side, body, isLast, more = {}) {
    const streamed = { body, end_of_stream: isLast };
    this.#reply({
      [`${side}_body`]: { response: { body_mutation: { streamed_response: streamed } } },
      ...more,
    });
  }

  #reply(message) {
    this.#stream.write(message);
  }
}

/** Tells the gateway that this request or response is blocked, and why. */
function blocked(reason) {
  const fields = { reason: { stringValue: reason } };
  return {
    dynamic_metadata: { fields: { inference_gateway_guardrail: { structValue: { fields } } } },
  };
}

/** Formats the error event of the route's protocol. */
function errorEvent(path) {
  const error = { message: MESSAGE, type: "permission_error", code: "guardrail_blocked" };
  if (path.startsWith("/v1/messages")) return event({ type: "error", error }, "event: error\n");
  if (path.startsWith("/v1/responses")) return event({ ...error, type: "error" }, "event: error\n");
  return event({ error });
}

function event(data, begin = "") {
  return `${begin}data: ${JSON.stringify(data)}\n\n`;
}

function valueOf(headers, name) {
  const found = headers?.headers?.find(({ key }) => key === name);
  return found === undefined ? "" : found.raw_value.toString();
}

const definition = loadSync("envoy/service/ext_proc/v3/external_processor.proto", {
  // The gateway's own protos: some published packages lack `streamed_response`, and drop it silently.
  includeDirs: [fileURLToPath(new URL("../../../proto", import.meta.url))],
  keepCase: true,
  enums: String,
  oneofs: true,
});
const { service } = loadPackageDefinition(definition).envoy.service.ext_proc.v3.ExternalProcessor;
const server = new Server();
server.addService(service, {
  Process(stream) {
    const check = new Check(stream);
    stream.on("data", (message) => check.take(message));
    stream.on("end", () => stream.end());
    stream.on("error", () => undefined);
  },
});
const address = `127.0.0.1:${process.env.PORT ?? "9100"}`;
server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stdout.write(`guardrail on port ${port}\n`);
});
