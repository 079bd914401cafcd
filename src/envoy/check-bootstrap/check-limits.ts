/** Body limits: those of Envoy and of `gateway.yaml` agree, and the buffers before ext_authz fit under them. */
import { createBodyLimits } from "../bootstrap/body-limits.ts";
import { FILTERS } from "./filter-types.ts";
import { type BootstrapFinding, createFinding } from "./finding.ts";
import type { YamlView } from "./yaml-view.ts";

const KIBIBYTE = 1024;
/** Envoy's defaults. */
const DEFAULT_CONNECTION_BUFFER_BYTES = 1024 * KIBIBYTE;
const DEFAULT_STREAM_WINDOW_BYTES = 16 * 1024 * KIBIBYTE;
const ONE_READ_BYTES = 16 * KIBIBYTE;

/** Findings in a listener and one of its connection managers. */
export function checkLimits(listener: YamlView, manager: YamlView, maxBodyBytes: number): BootstrapFinding[] {
  const wanted = createBodyLimits(maxBodyBytes);
  const buffer = manager
    .at("http_filters")
    .items()
    .find((filter) => filter.typeName === FILTERS.buffer);
  const limit = buffer?.at("typed_config", "max_request_bytes");
  if (limit === undefined) return [];
  const findings: BootstrapFinding[] = [];
  if (limit.number !== wanted.maxRequestBytes) {
    const text = {
      check: "body_limit",
      message: `Envoy takes bodies of ${String(limit.value)} bytes, the gateway of ${maxBodyBytes} (limits.max_body_bytes).`,
      fix: `Write \`max_request_bytes: ${wanted.maxRequestBytes}\`, or change limits.max_body_bytes.`,
    };
    findings.push(createFinding(limit, text));
  }
  return [...findings, ...checkBuffers(listener, manager, limit.number ?? 0, wanted)];
}

/** What is held while ext_authz decides must be under half of the limit, or nothing is ever read again. */
function checkBuffers(
  listener: YamlView,
  manager: YamlView,
  maxRequestBytes: number,
  wanted: { connectionBufferBytes: number; streamWindowBytes: number },
): BootstrapFinding[] {
  const connection = listener.at("per_connection_buffer_limit_bytes");
  const window = manager.at("http2_protocol_options", "initial_stream_window_size");
  const connectionBytes = connection.number ?? DEFAULT_CONNECTION_BUFFER_BYTES;
  const windowBytes = window.number ?? DEFAULT_STREAM_WINDOW_BYTES;
  const findings: BootstrapFinding[] = [];
  if (2 * connectionBytes + ONE_READ_BYTES > maxRequestBytes / 2) {
    const text = {
      check: "connection_buffer",
      message: `${connectionBytes} bytes are too close to max_request_bytes: bodies hang until their 408.`,
      fix: `Write \`per_connection_buffer_limit_bytes: ${wanted.connectionBufferBytes}\`.`,
    };
    findings.push(createFinding(connection, text));
  }
  if (connectionBytes + windowBytes > maxRequestBytes / 2) {
    const text = {
      check: "stream_window",
      message: `an HTTP/2 window of ${windowBytes} bytes is too close to max_request_bytes: bodies hang until their 408.`,
      fix: `Write \`initial_stream_window_size: ${wanted.streamWindowBytes}\`.`,
    };
    findings.push(createFinding(window, text));
  }
  return findings;
}
