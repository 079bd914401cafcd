/** Body limits: those of Envoy and of `gateway.yaml` agree, and the buffers before ext_authz fit under them. */
import { FILTERS } from "./filter-types.ts";
import { type BootstrapFinding, findUnless } from "./finding.ts";
import { findFilter, type Rendered } from "./rendered.ts";
import type { YamlView } from "./yaml-view.ts";

const KIBIBYTE = 1024;
/** Envoy's defaults. */
const DEFAULT_CONNECTION_BUFFER_BYTES = 1024 * KIBIBYTE;
const DEFAULT_STREAM_WINDOW_BYTES = 16 * 1024 * KIBIBYTE;
const ONE_READ_BYTES = 16 * KIBIBYTE;

const CONNECTION_BUFFER = ["per_connection_buffer_limit_bytes"];
const STREAM_WINDOW = ["http2_protocol_options", "initial_stream_window_size"];

/** Findings in a listener and one of its connection managers. */
export function checkLimits(
  listener: YamlView,
  manager: YamlView,
  rendered: Rendered,
  maxBodyBytes: number,
): BootstrapFinding[] {
  const limit = readBodyLimit(manager);
  if (limit === undefined) return [];
  const right = readBodyLimit(rendered.manager)?.number;
  return [
    ...findUnless(limit.number === right, limit, {
      check: "body_limit",
      message: `Envoy takes bodies of ${String(limit.value)} bytes; for ${maxBodyBytes} (limits.max_body_bytes) and what one may gain on its way it must be ${right}.`,
      fix: `Write \`max_request_bytes: ${right}\`, or change limits.max_body_bytes.`,
    }),
    ...checkBuffers(listener, manager, limit.number ?? 0, rendered),
  ];
}

function readBodyLimit(manager: YamlView): YamlView | undefined {
  return findFilter(manager.at("http_filters"), FILTERS.buffer)?.at("typed_config", "max_request_bytes");
}

/** What is held while ext_authz decides must be under half of the limit, or nothing is ever read again. */
function checkBuffers(
  listener: YamlView,
  manager: YamlView,
  maxRequestBytes: number,
  rendered: Rendered,
): BootstrapFinding[] {
  const connection = listener.at(...CONNECTION_BUFFER);
  const window = manager.at(...STREAM_WINDOW);
  const connectionBytes = connection.number ?? DEFAULT_CONNECTION_BUFFER_BYTES;
  const windowBytes = window.number ?? DEFAULT_STREAM_WINDOW_BYTES;
  return [
    ...findUnless(2 * connectionBytes + ONE_READ_BYTES <= maxRequestBytes / 2, connection, {
      check: "connection_buffer",
      message: `${connectionBytes} bytes are too close to max_request_bytes: bodies hang until their 408.`,
      fix: `Write \`per_connection_buffer_limit_bytes: ${rendered.listener.at(...CONNECTION_BUFFER).number}\`.`,
    }),
    ...findUnless(connectionBytes + windowBytes <= maxRequestBytes / 2, window, {
      check: "stream_window",
      message: `an HTTP/2 window of ${windowBytes} bytes is too close to max_request_bytes: bodies hang until their 408.`,
      fix: `Write \`initial_stream_window_size: ${rendered.manager.at(...STREAM_WINDOW).number}\`.`,
    }),
  ];
}
