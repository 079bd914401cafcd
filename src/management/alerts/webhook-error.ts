/** Reason why a webhook got no response, in words that its owner may read. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ENOTFOUND: "the host's name is not known",
  ENODATA: "the host's name has no address",
  ESERVFAIL: "the host's name server failed",
  ETIMEOUT: "the host's name server didn't respond",
  ETIMEDOUT: "the connection was not made in time",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the host's network cannot be reached",
  ABORT_ERR: "the attempt was broken off",
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
