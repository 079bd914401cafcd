/** Reasons for failed connections to an upstream, by Envoy's texts and by Node's error codes. */
import { FLAGS } from "./response-flags.ts";
import { type Reason, reason } from "./reason.ts";

interface ConnectionReason extends Reason {
  /** Pattern of the text after `upstream_reset_before_response_started{…|`, with underscores for spaces. */
  readonly envoy: RegExp;
  /** Pattern of Node's error codes (system, TLS, OpenSSL's X.509 checks), or of the error's name without a code. */
  readonly node: RegExp;
  /** True if its certificate is wrong. */
  readonly isCertificate: boolean;
}

const START_OR_CORRECT =
  "Start the model server, correct the upstream's `url`, or allow the connection in the network.";

function unreachable(envoy: RegExp, node: RegExp, text: string, todo = START_OR_CORRECT): ConnectionReason {
  return { ...reason("upstream", text, "operator", todo), envoy, node, isCertificate: false };
}

function untrusted(envoy: RegExp, node: RegExp, text: string, todo: string): ConnectionReason {
  return { ...reason("upstream", text, "operator", todo), envoy, node, isCertificate: true };
}

/** First match wins. */
const CONNECTION_REASONS: readonly ConnectionReason[] = [
  untrusted(
    /verify_SAN_list|SAN_match|SANs?_are|URI_SAN/,
    /^ERR_TLS_CERT_ALTNAME_INVALID$|HOSTNAME_MISMATCH/,
    "{upstream} has a certificate for another name",
    "Correct the host in the upstream's `url`, or set `tls.server_name` to a name that the certificate has.",
  ),
  untrusted(
    /certificate_has_expired/,
    /^CERT_HAS_EXPIRED$/,
    "{upstream} has an expired certificate",
    "Renew the certificate of the model server.",
  ),
  untrusted(
    /certificate_is_not_yet_valid/,
    /^CERT_NOT_YET_VALID$/,
    "{upstream} has a certificate that isn't valid yet",
    "Check the clocks of the model server and of this host.",
  ),
  untrusted(
    /self[-_]signed|issuer_certificate|unable_to_verify_the_first|certificate_not_trusted|no_trust_bundle/,
    /SELF_SIGNED|UNABLE_TO|CERT_UNTRUSTED|INVALID_CA/,
    "{upstream} has a certificate of an unknown authority",
    "Set `tls.ca_file` of the upstream to the authority's certificates, or give the model server a certificate of a known authority.",
  ),
  untrusted(
    /CERTIFICATE_VERIFY_FAILED|verify_cert_failed/,
    /^CERT_|CRL|PATH_LENGTH|PURPOSE|^ERR_TLS_CERT/,
    "{upstream} has a certificate that the gateway doesn't accept",
    "Renew the certificate of the model server, or correct `tls.server_name` or `tls.ca_file` of the upstream.",
  ),
  unreachable(
    /WRONG_VERSION_NUMBER|HTTP_REQUEST|HTTPS_PROXY_REQUEST/,
    /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    "{upstream} doesn't speak TLS at this address",
    "Set the upstream's `url` to `http://…`, or to the port at which the model server speaks TLS.",
  ),
  unreachable(
    /CERTIFICATE_REQUIRED|UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN/,
    /^ERR_SSL_.*(?:CERTIFICATE_REQUIRED|UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/,
    "{upstream} requires a client certificate, which the gateway doesn't have",
    "Configure the model server to require no client certificate: the gateway identifies itself by `credential`.",
  ),
  unreachable(
    /UNRECOGNIZED_NAME/,
    /^ERR_SSL_.*UNRECOGNIZED_NAME$/,
    "{upstream} doesn't serve this host name at its address",
    "Correct the host in the upstream's `url`, or set `tls.server_name` to a name that the server has.",
  ),
  unreachable(
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|HANDSHAKE_FAILURE|NO_SHARED_CIPHER/,
    /^ERR_SSL_.*(?:PROTOCOL|HANDSHAKE_FAILURE|NO_SHARED_CIPHER|PROTOCOL_VERSION)/,
    "{upstream} and Envoy have no TLS version or cipher in common",
    "Enable TLS 1.2 or 1.3 on the model server.",
  ),
  unreachable(
    /TLS_error|TLS_ERROR/,
    /^ERR_SSL_|^EPROTO$/,
    "{upstream} aborted the TLS handshake",
    "Check that the upstream's `url` leads to the port at which the model server speaks TLS, and read the server's log.",
  ),
  unreachable(
    /Connection_refused|connect_error:_111\b/,
    /^ECONNREFUSED$/,
    "{upstream} refused the connection: nothing listens at its address",
  ),
  unreachable(
    /(?:Network_is_unreachable|No_route_to_host|Host_is_unreachable|Host_is_down)/,
    /^(?:ENETUNREACH|EHOSTUNREACH|EHOSTDOWN)$/,
    "{upstream} could not be connected to: there is no route to its address",
    "Correct the upstream's `url`, or the network's routes and rules.",
  ),
  unreachable(
    /Connection_timed_out|^connection_timeout/,
    /^ETIMEDOUT$|^ConnectTimeoutError$/,
    "{upstream} accepted no connection in time: its address doesn't respond",
    `${START_OR_CORRECT} The upstream's \`connect_timeout_seconds\` is the time limit.`,
  ),
  unreachable(
    /Connection_reset_by_peer|Broken_pipe/,
    /^(?:ECONNRESET|EPIPE)$/,
    "{upstream} closed the connection immediately",
    "Read the logs of the model server and of proxies before it: one of them accepts connections and drops them.",
  ),
  unreachable(
    /Cannot_assign_requested_address|Too_many_open_files|No_buffer_space/,
    /^(?:EADDRNOTAVAIL|EMFILE|ENFILE|ENOBUFS)$/,
    "this host had no port or file handle left for a connection to {upstream}",
    "Raise the limits of open files and the range of local ports, or add servers to the upstream.",
  ),
  // Envoy then has no host, and reports `no_healthy_upstream`.
  { ...FLAGS.DF, envoy: /^dns_/, node: /^(?:ENOTFOUND|EAI_AGAIN|ENODATA)$/, isCertificate: false },
];

/** @param transport Envoy's text about the connection: "delayed_connect_error:_Connection_refused". */
export function explainTransport(transport: string): Reason | null {
  return CONNECTION_REASONS.find(({ envoy }) => envoy.test(transport)) ?? null;
}

/** Explains an error of Node; null if unknown. */
export function explainConnectError(error: unknown): (Reason & { readonly isCertificate: boolean }) | null {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return null;
  const { code = first.name } = first as NodeJS.ErrnoException;
  return CONNECTION_REASONS.find(({ node }) => node.test(code)) ?? null;
}
