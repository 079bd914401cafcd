/**
 * One identity provider of `dashboard.oidc`. Identifies persons by what the provider has signed; `roles.ts`
 * decides their rights. It must never trust an ID token whose signature, nonce or audience was not checked,
 * and never take an address from a browser. While the provider is unreachable nobody can sign in; existing
 * sessions stay.
 */
import type { OidcProviderConfig } from "../../shared/config/schema.ts";
import type { JsonObject } from "../../shared/text/json-object.ts";
import { readEmail, readGroups, readName, readSubject } from "./claims.ts";
import { OidcError } from "./oidc-error.ts";
import type { OidcClient } from "./openid.ts";
import { checksOf, type Transaction } from "./transaction.ts";

/** Identity of a person at a provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Unverified text from the provider, for people. */
  readonly name: string;
  readonly email: string | null;
  readonly groups: readonly string[];
  readonly idToken: string;
}

/** Time until endpoints and authentication methods are fetched again. */
const DISCOVERY_MS = 3_600_000;

export class IdentityProvider {
  readonly config: OidcProviderConfig;
  readonly #redirectUri: string;
  readonly #nowMs: () => number;
  #opened: {
    readonly secret: string | null;
    readonly atMs: number;
    readonly client: Promise<OidcClient>;
  } | null = null;

  /** @param baseUrl `dashboard.base_url`, without a final slash. */
  constructor(config: OidcProviderConfig, baseUrl: string, nowMs: () => number) {
    this.config = config;
    this.#redirectUri = `${baseUrl}/sign-in/oidc/${config.name}/callback`;
    this.#nowMs = nowMs;
  }

  get name(): string {
    return this.config.name;
  }

  /** Returns the address to send the browser to. @throws OidcError */
  async createAuthorizationUrl(transaction: Transaction): Promise<string> {
    const client = await this.#open();
    const { scopes } = this.config;
    const checks = checksOf(transaction);
    return client.createAuthorizationUrl({ redirectUri: this.#redirectUri, scopes, checks });
  }

  /**
   * Identifies the person who has returned.
   * @param search Query with which the browser returned, from "?" on.
   * @throws OidcError
   */
  async identify(search: string, transaction: Transaction): Promise<Identity> {
    const client = await this.#open();
    const idToken = await client.redeem(new URL(this.#redirectUri + search), checksOf(transaction));
    const { claims } = idToken;
    const { groupsClaim } = this.config;
    const ofToken = readGroups(claims, groupsClaim);
    const userInfo: JsonObject = (ofToken === null ? await client.readUserInfo(idToken) : null) ?? {};
    const all = { ...userInfo, ...claims };
    const subject = readSubject(claims);
    return {
      issuer: String(claims["iss"]),
      subject,
      name: readName(all, subject),
      email: readEmail(all),
      groups: ofToken ?? readGroups(userInfo, groupsClaim) ?? [],
      idToken: idToken.text,
    };
  }

  /** Returns the provider's sign-out address; null if it offers none. @throws OidcError */
  async createSignOutUrl(idToken: string | null, returnTo: string): Promise<string | null> {
    const client = await this.#open();
    return client.createSignOutUrl({ idToken, returnTo });
  }

  async #open(): Promise<OidcClient> {
    const { openClient } = await import("./openid.ts");
    const { issuer, clientId } = this.config;
    const secret = this.#readSecret();
    const nowMs = this.#nowMs();
    const former = this.#opened;
    const isFresh = former !== null && former.secret === secret && nowMs - former.atMs < DISCOVERY_MS;
    const current = isFresh
      ? former
      : { secret, atMs: nowMs, client: openClient({ issuer, clientId, secret }) };
    this.#opened = current;
    try {
      return await current.client;
    } catch (thrown) {
      // Makes the next call try again, when the provider may work.
      if (this.#opened === current) this.#opened = null;
      throw thrown;
    }
  }

  #readSecret(): string | null {
    const { clientSecret } = this.config;
    if (clientSecret === null) return null;
    const absence = clientSecret.explainAbsence();
    if (absence !== null) throw new OidcError("unreachable", `the client's secret: ${absence}`);
    return clientSecret.reveal();
  }
}
