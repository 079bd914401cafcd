/** Reason why a webhook got no response, in words that its owner may read. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed",
  EPIPE: "the connection was closed",
  ENOTFOUND: "the host name is unknown",
  ENODATA: "the host's name has no address",
  ESERVFAIL: "the name server failed",
  ETIMEOUT: "the name server didn't respond",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the host's network is unreachable",
  ABORT_ERR: "the attempt was interrupted",
};

/** Uses error codes, because the texts of Node's errors name addresses. */
export function describeConnectionError(error: Error): WebhookError {
  if (error instanceof WebhookError) return error;
  const code = codeOf(error);
  return new WebhookError(TEXTS[code] ?? `the connection failed (${code})`, { cause: error });
}

function codeOf(error: Error): string {
  // Several addresses were tried and mostly failed alike.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && "code" in first ? String(first.code) : "unknown error";
}
