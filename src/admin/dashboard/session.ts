/**
 * Who is signed in, in a cookie and nowhere else: an encrypted record (AES-256-GCM) that names the holder and the end of
 * the session. Its key is derived from the operator's token, so that every host with that token agrees, nothing has to
 * be kept, and a new operator token ends every session. An organization's token is looked up again with each page: a
 * deleted one ends its sessions at once. The cookie holds no token, only the hash of one, encrypted.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, scryptSync } from "node:crypto";
import { isSameText } from "./same-text.ts";

export const SESSION_MS = 12 * 3_600_000;
/** What a guess of a weak operator token costs whoever holds a cookie. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_ENDED = 10_000;

export interface Session {
  readonly id: string;
  readonly expiresAtMs: number;
  /** SHA-256 of an organization's token, or null for the operator. */
  readonly tokenHash: string | null;
}

export class Sessions {
  readonly #key: Buffer;
  /** Signed out before their time, on this host: id → end. */
  readonly #ended = new Map<string, number>();

  constructor(operatorToken: string) {
    this.#key = scryptSync(operatorToken, "inference-gateway dashboard session", 32, SCRYPT);
  }

  create(tokenHash: string | null, nowMs: number): Session {
    return { id: randomBytes(16).toString("base64url"), expiresAtMs: nowMs + SESSION_MS, tokenHash };
  }

  /** The cookie's value. */
  seal(session: Session): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    const text = JSON.stringify([session.id, session.expiresAtMs, session.tokenHash]);
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString("base64url");
  }

  /** The session of a cookie; null when it is not one of ours, over or signed out. */
  open(cookie: string, nowMs: number): Session | null {
    const session = this.#decrypt(Buffer.from(cookie, "base64url"));
    if (session === null || session.expiresAtMs <= nowMs || this.#ended.has(session.id)) return null;
    return session;
  }

  end(session: Session, nowMs: number): void {
    for (const [id, endMs] of this.#ended) if (endMs <= nowMs) this.#ended.delete(id);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size >= MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    this.#ended.set(session.id, session.expiresAtMs);
  }

  /** What every form of a session carries. `subject`: the session's id, or the sign-in page's cookie. */
  formToken(subject: string): string {
    return createHmac("sha256", this.#key).update(`form ${subject}`).digest("base64url");
  }

  isFormToken(given: string, subject: string): boolean {
    return isSameText(given, this.formToken(subject));
  }

  #decrypt(bytes: Buffer): Session | null {
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const sealed = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
      const text = Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8");
      const [id, expiresAtMs, tokenHash] = JSON.parse(text) as [string, number, string | null];
      return { id, expiresAtMs, tokenHash };
    } catch {
      // Of another operator token, or made up: no session either way.
      return null;
    }
  }
}
