/**
 * Sessions of signed-in users. A session is a secret in a cookie and a record in the store, which every host
 * reads for each page: an ended session is over everywhere at once, and an unreadable one is invalid. The
 * operator's sessions end with the operator's token, others with the organization's token or API key that they
 * started with; each is checked every time. Neither cookie nor store contains a token or key.
 */
import { createHash, createHmac, randomBytes, scrypt, type ScryptOptions } from "node:crypto";
import { promisify } from "node:util";
import { hashKey, isWellFormedKey, looksLikeKey } from "../../../data-path/auth/key-format.ts";
import type { PersonHolder, SessionRecord, SessionStore } from "../../../shared/stored/sessions.ts";
import type { TokenStore } from "../../../shared/stored/tokens.ts";
import { type IdentityProviders, NO_PROVIDERS } from "../identity/identity-providers.ts";
import type { EndReason } from "../identity/record-sign-in.ts";
import { createPart, hashProgram, hashProgramToken } from "../../../shared/contract/program-sign-in.ts";
import { seal } from "../identity/seal.ts";
import { AdminError } from "../admin-error.ts";
import {
  authenticate,
  findKeyHolder,
  findTokenHolder,
  hashToken,
  isSameText,
  type KeyHolderStore,
  type Principal,
} from "../principal.ts";

/** Cost of guessing a weak operator token for an attacker who has read the store. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const derive: (password: string, salt: string, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);
const SECRET_BYTES = 32;
const SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

export type SessionsStore = Pick<
  SessionStore,
  "createSession" | "useSession" | "findSession" | "endSession"
> &
  Pick<TokenStore, "findToken"> &
  KeyHolderStore;

export interface BegunSession {
  /** Value of the cookie. */
  readonly secret: string;
  readonly record: SessionRecord;
}

export interface BegunProgram {
  readonly code: string;
  readonly holder: PersonHolder;
}

/** Called for a session that was ended because its holder would no longer be admitted. */
export type OnEnded = (holder: PersonHolder, reason: EndReason) => Promise<void>;

export class Sessions {
  readonly #operatorToken: string;
  #operatorProof: Promise<string> | null = null;
  readonly #store: SessionsStore;
  readonly #providers: IdentityProviders;

  constructor(operatorToken: string, store: SessionsStore, providers = NO_PROVIDERS) {
    this.#operatorToken = operatorToken;
    this.#store = store;
    this.#providers = providers;
  }

  /**
   * Signs in with a token, or with an API key for a session that shows only the key.
   * @throws AdminError 401; errors of the store if Redis is unreachable.
   */
  async begin(token: string): Promise<BegunSession> {
    const isOperator = isSameText(token, this.#operatorToken);
    if (looksLikeKey(token) && !isOperator) return this.#beginKey(token);
    const principal = await authenticate(`Bearer ${token}`, this.#operatorToken, this.#store);
    if (principal.type === "operator") {
      const proof = await this.#proveOperator();
      return this.#create(() => ({ type: "operator", proof }));
    }
    const { organizationId } = principal;
    return this.#create(() => ({ type: "token", tokenHash: hashToken(token), organizationId }));
  }

  async #beginKey(token: string): Promise<BegunSession> {
    const keyHash = hashKey(token);
    const key = isWellFormedKey(token) ? await findKeyHolder(keyHash, this.#store) : null;
    if (key === null) {
      const message =
        "This API key is mistyped, unknown, disabled or expired, or its user or organization is disabled. Ask who gave you the key.";
      throw new AdminError("invalid_token", { message });
    }
    return this.#create(() => ({ type: "key", keyHash, organizationId: key.organizationId }));
  }

  /** Signs in a person known to a provider. @throws errors of the store if Redis is unreachable. */
  beginPerson(person: Omit<PersonHolder, "sealedIdToken">, idToken: string): Promise<BegunSession> {
    return this.#create((secret) => ({ ...person, sealedIdToken: seal(idToken, secret) }));
  }

  /**
   * Starts a session of the same person for a program, which ends by itself and independently.
   * @param secret Secret of the browser's session.
   * @returns The code that the program needs in addition to its verifier, and the holder; null if the user
   * did not sign in with a provider.
   */
  async beginProgram(secret: string, challenge: string): Promise<BegunProgram | null> {
    const person = await this.findPerson(secret);
    if (person === null) return null;
    const code = createPart();
    // A program does not sign out at the provider.
    const holder = { ...person, sealedIdToken: null };
    await this.#store.createSession(hashProgram(challenge, code), holder);
    return { code, holder };
  }

  async #create(holderOf: (secret: string) => SessionRecord["holder"]): Promise<BegunSession> {
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    return { secret, record: await this.#store.createSession(hashSecret(secret), holderOf(secret)) };
  }

  /**
   * Returns the holder; null if the session does not exist or is over, its token was deleted, or its person
   * would have another role today.
   * @throws errors of the store if Redis is unreachable.
   */
  async find(secret: string, onEnded: OnEnded = () => Promise.resolve()): Promise<Principal | null> {
    return SECRET_FORM.test(secret) ? this.#findByHash(hashSecret(secret), onEnded) : null;
  }

  /** Returns the holder of a program's session by its token. Sessions of browsers and programs are distinct. */
  async findProgram(token: string, onEnded: OnEnded): Promise<Principal | null> {
    const hash = hashProgramToken(token);
    return hash === null ? null : this.#findByHash(hash, onEnded);
  }

  async #findByHash(hash: string, onEnded: OnEnded): Promise<Principal | null> {
    const holder = (await this.#store.useSession(hash))?.holder ?? null;
    if (holder === null) return null;
    if (holder.type === "token") return findTokenHolder(holder.tokenHash, this.#store);
    if (holder.type === "key") return findKeyHolder(holder.keyHash, this.#store);
    if (holder.type === "operator") {
      return isSameText(holder.proof, await this.#proveOperator()) ? { type: "operator" } : null;
    }
    const reason = await this.#findEndReason(holder);
    if (reason === null) return principalOf(holder);
    // Only the first of concurrent calls reports it.
    if (await this.#store.endSession(hash)) await onEnded(holder, reason);
    return null;
  }

  /** Returns a person who signed in with a provider, for the sign-out there; otherwise null. */
  async findPerson(secret: string): Promise<PersonHolder | null> {
    const holder = SECRET_FORM.test(secret)
      ? (await this.#store.findSession(hashSecret(secret)))?.holder
      : null;
    return holder?.type === "person" ? holder : null;
  }

  async #findEndReason(holder: PersonHolder): Promise<EndReason | null> {
    if (!this.#providers.isStillGranted(holder)) return "role_withdrawn";
    const { organizationId, userId } = holder;
    if (organizationId === null || userId === null) return null;
    const user = await this.#store.getUser(organizationId, userId);
    return user === null || user.deletedAtMs !== null || user.disabled ? "user_disabled" : null;
  }

  /**
   * Returns the same proof on every host with the same operator's token. Created for the first operator and
   * kept: it takes a fifth of a second of a core, for which no start must wait.
   */
  #proveOperator(): Promise<string> {
    this.#operatorProof ??= derive(this.#operatorToken, "inference-gateway dashboard", 32, SCRYPT).then(
      (proof) => proof.toString("hex"),
    );
    return this.#operatorProof;
  }

  /**
   * Ends the session on every host. @throws errors of the store if Redis is unreachable: the session may then
   * continue.
   */
  async end(secret: string): Promise<void> {
    await this.#store.endSession(hashSecret(secret));
  }
}

function principalOf(holder: PersonHolder): Principal | null {
  const { issuer, subject, name, role, organizationId, userId } = holder;
  const person = { issuer, subject, name };
  if (role === "operator") return { type: "operator", person };
  return organizationId === null ? null : { type: "person", name, role, organizationId, userId, person };
}

/** Creates the token of every form, from the session's secret, or from the sign-in page's cookie. */
export function createFormToken(secret: string): string {
  return createHmac("sha256", secret).update("form").digest("base64url");
}

export function isFormToken(given: string, secret: string): boolean {
  return isSameText(given, createFormToken(secret));
}

function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
