/** Response code details of Envoy's codecs and header validator: the request was not valid HTTP. */
import { type Reason, reason } from "./reason.ts";
import { FLAGS } from "./response-flags.ts";

function malformed(text: string, todo: string): Reason {
  return reason("client", text, "client", todo);
}

const HEADERS_TOO_LARGE = malformed(
  "the request has more or larger headers than Envoy accepts",
  "Send fewer or shorter headers and cookies.",
);
const UNDERSCORE = malformed(
  "the request has a header with an underscore in its name",
  "Write the header's name with hyphens.",
);
const INVALID_HEADER = malformed(
  "the request has an invalid header",
  "Look for line breaks and control characters in names and values of headers. Often an API key was read with its line break.",
);
const INVALID_LENGTH = malformed(
  "the length of the request's body is missing or ambiguous",
  "Send either `Content-Length` or `Transfer-Encoding: chunked`, as HTTP libraries do.",
);
const INVALID_URL = malformed("the request's URL is invalid", "Send one of the paths of docs/api.md.");
const FLOOD = malformed(
  "the client flooded its connection with frames of HTTP/2",
  "Use another HTTP/2 library, or HTTP/1.1.",
);
const RESET: Reason = FLAGS.DR;
const OTHER = malformed(
  "the request wasn't valid HTTP",
  "Check that the client speaks HTTP to this port, not TLS or another protocol.",
);

/** Reasons by the start of the details; a protocol's name alone matches all that have no row. */
export const CODEC_DETAILS: Readonly<Record<string, Reason>> = {
  "http1.": OTHER,
  "http1.body_disallowed": malformed(
    "the request has a body that its method doesn't allow",
    "Don't send a body.",
  ),
  "http1.codec_error": OTHER,
  "http1.connection_header_rejected": INVALID_HEADER,
  "http1.content_length_and_chunked_not_allowed": INVALID_LENGTH,
  "http1.content_length_not_allowed": INVALID_LENGTH,
  "http1.headers_too_large": HEADERS_TOO_LARGE,
  "http1.https_url_on_plaintext_connection": malformed(
    "the request has an `https` URL on a connection without TLS",
    "Send only the path, or use TLS.",
  ),
  "http1.invalid_characters": INVALID_HEADER,
  "http1.invalid_scheme": INVALID_URL,
  "http1.invalid_transfer_encoding": INVALID_LENGTH,
  "http1.invalid_url": INVALID_URL,
  "http1.too_many_headers": HEADERS_TOO_LARGE,
  "http1.transfer_encoding_not_allowed": INVALID_LENGTH,
  "http1.unexpected_underscore": UNDERSCORE,
  "http2.": OTHER,
  "http2.cookies_total_bytes_too_large": HEADERS_TOO_LARGE,
  "http2.header_list_size_too_large": HEADERS_TOO_LARGE,
  "http2.inbound_empty_frames_flood": FLOOD,
  "http2.invalid.header.field": INVALID_HEADER,
  "http2.outbound_frames_flood": FLOOD,
  "http2.remote_refuse": RESET,
  "http2.remote_reset": RESET,
  "http2.too_many_headers": HEADERS_TOO_LARGE,
  "http2.unexpected_underscore": UNDERSCORE,
  "http2.unknown.nghttp2.error": OTHER,
  "http2.unknown.oghttp2.error": OTHER,
  "http2.violation.of.messaging.rule": OTHER,
  "http3.": OTHER,
  "http3.headers_too_large": HEADERS_TOO_LARGE,
  "http3.inconsistent_content_length": INVALID_LENGTH,
  "http3.invalid_header_field": INVALID_HEADER,
  "http3.too_many_headers": HEADERS_TOO_LARGE,
  "http3.too_many_trailers": HEADERS_TOO_LARGE,
  "http3.unexpected_underscore": UNDERSCORE,
  "uhv.": OTHER,
  "uhv.empty_header_name": INVALID_HEADER,
  "uhv.escaped_slashes_in_url_path": INVALID_URL,
  "uhv.fragment_in_url_path": INVALID_URL,
  "uhv.invalid_content_length": INVALID_LENGTH,
  "uhv.invalid_host": INVALID_URL,
  "uhv.invalid_name_characters": INVALID_HEADER,
  "uhv.invalid_scheme": INVALID_URL,
  "uhv.invalid_value_characters": INVALID_HEADER,
  "uhv.percent_00_in_url_path": INVALID_URL,
  "uhv.path_normalization_redirect": INVALID_URL,
  "uhv.unexpected_underscore": UNDERSCORE,
};
