/**
 * Signatures of webhooks by the Standard Webhooks convention (github.com/standard-webhooks/standard-webhooks,
 * spec/standard-webhooks.md): HMAC-SHA256 over `{id}.{timestamp}.{body}`, keyed with the decoded base64 after
 * `whsec_`.
 */
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** Same length as the digest. */
const SECRET_BYTES = 32;

export interface SignedMessage {
  readonly id: string;
  /** Unix seconds of this attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** Creates a secret, `whsec_…`. */
export function createWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** Returns the headers of a message, signed with each secret. @throws RangeError for an invalid secret. */
export function signWebhook(secrets: readonly string[], message: SignedMessage): Record<string, string> {
  const { id, timestamp, body } = message;
  const signatures = secrets.map((secret) => {
    const digest = createHmac("sha256", decodeSecret(secret)).update(`${id}.${timestamp}.${body}`);
    return `v1,${digest.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}

function decodeSecret(secret: string): Buffer {
  if (!secret.startsWith(PREFIX)) throw new RangeError("a webhook's secret does not begin with whsec_");
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}
