/** An identity provider as far as Envoy sees one: keys by URL, and tokens signed with them. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: "RS256" | "ES256";
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function createSigningKey(
  kid: string,
  algorithm: SigningKey["algorithm"] = "RS256",
): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: "sig" };
  return { kid, algorithm, privateKey, publicJwk };
}

export interface TokenIssuer {
  readonly issuer: string;
  /** Where Envoy fetches the keys. */
  readonly jwksUrl: string;
  /** The first one signs. */
  keys: SigningKey[];
  /** Fetches of the keys so far. */
  readonly fetches: number;
  /** In place of the keys. */
  onFetch: ((response: ServerResponse) => void) | null;
  /** A token of an hour for `inference-gateway`; claims and header as given, `undefined` takes one out. */
  sign(claims?: object, options?: { readonly key?: SigningKey; readonly header?: object }): Promise<string>;
  waitForFetches(count: number): Promise<void>;
  close(): Promise<void>;
}

export const AUDIENCE = "inference-gateway";

export async function startTokenIssuer(issuer: string): Promise<TokenIssuer> {
  const state = { fetches: 0, waiting: [] as (() => void)[] };
  const server = createServer((_request, response) => {
    state.fetches += 1;
    for (const wake of state.waiting.splice(0)) wake();
    if (started.onFetch !== null) return started.onFetch(response);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ keys: started.keys.map(({ publicJwk }) => publicJwk) }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const started: TokenIssuer = {
    issuer,
    jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    keys: [await createSigningKey(`${new URL(issuer).hostname}-1`)],
    onFetch: null,
    get fetches() {
      return state.fetches;
    },
    async sign(claims = {}, { key = started.keys[0], header = {} } = {}) {
      if (key === undefined) throw new Error("the issuer has no key");
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: issuer, aud: AUDIENCE, sub: "somebody", iat: now, exp: now + 3600 };
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg: key.algorithm, kid: key.kid, typ: "JWT", ...header })
        .sign(key.privateKey);
    },
    async waitForFetches(count) {
      while (state.fetches < count) await new Promise<void>((wake) => state.waiting.push(wake));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return started;
}
