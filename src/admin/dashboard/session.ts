/**
 * Who is signed in. A session is a secret in a cookie and a record in the store, of which every host reads with each
 * page: one that is ended is over everywhere at once, and what cannot be read is not let in. The operator's sessions end
 * with the operator's token, an organization's with the token that they began with: both are looked at again each time.
 * Neither cookie nor store holds a token.
 */
import { createHash, createHmac, randomBytes, scrypt, type ScryptOptions } from "node:crypto";
import { promisify } from "node:util";
import type { SessionStore } from "../../store/types/sessions.ts";
import type { TokenStore } from "../../store/types/tokens.ts";
import { authenticate, findTokenHolder, type Principal } from "../principal.ts";
import { hashToken } from "../token-format.ts";
import { isSameText } from "../same-text.ts";

export const SESSION_MS = 12 * 3_600_000;
/** What a guess of a weak operator token costs whoever has read the store. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const derive: (password: string, salt: string, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);
const SECRET_BYTES = 32;
const SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

export type SessionsStore = Pick<SessionStore, "createSession" | "findSession" | "endSession"> &
  Pick<TokenStore, "findToken">;

export class Sessions {
  readonly #operatorToken: string;
  #operatorProof: Promise<string> | null = null;
  readonly #store: SessionsStore;

  constructor(operatorToken: string, store: SessionsStore) {
    this.#operatorToken = operatorToken;
    this.#store = store;
  }

  /**
   * Signs in with a token.
   * @returns The session's secret, the cookie's value.
   * @throws AdminError 401; what the store throws when Redis is away.
   */
  async begin(token: string): Promise<string> {
    const principal = await authenticate(`Bearer ${token}`, this.#operatorToken, this.#store);
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    const holder =
      principal.type === "operator"
        ? ({ type: "operator", proof: await this.#proveOperator() } as const)
        : ({ type: "token", tokenHash: hashToken(token) } as const);
    await this.#store.createSession(hashSecret(secret), holder, SESSION_MS);
    return secret;
  }

  /**
   * Whose session this is; null when it is none, is over, or its token is gone.
   * @throws What the store throws when Redis is away.
   */
  async find(secret: string): Promise<Principal | null> {
    if (!SECRET_FORM.test(secret)) return null;
    const holder = await this.#store.findSession(hashSecret(secret));
    if (holder === null) return null;
    if (holder.type === "token") return findTokenHolder(holder.tokenHash, this.#store);
    return isSameText(holder.proof, await this.#proveOperator()) ? { type: "operator" } : null;
  }

  /**
   * The same on every host that has the same operator's token. Made when the first operator comes, and kept: it takes a
   * fifth of a second of a core, which no start has to wait for.
   */
  #proveOperator(): Promise<string> {
    this.#operatorProof ??= derive(this.#operatorToken, "inference-gateway dashboard", 32, SCRYPT).then(
      (proof) => proof.toString("hex"),
    );
    return this.#operatorProof;
  }

  /** Signs out, on every host. @throws What the store throws when Redis is away: the session may then go on. */
  async end(secret: string): Promise<void> {
    await this.#store.endSession(hashSecret(secret));
  }
}

/** What every form carries: of the session's secret, or of the sign-in page's cookie. */
export function createFormToken(secret: string): string {
  return createHmac("sha256", secret).update("form").digest("base64url");
}

export function isFormToken(given: string, secret: string): boolean {
  return isSameText(given, createFormToken(secret));
}

function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
