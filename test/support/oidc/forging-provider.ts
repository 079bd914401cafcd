/**
 * A provider that answers what a test tells it to: what a real one would never sign, and times that are off. Its keys,
 * addresses and forms are a provider's (RFC 6749, OpenID Connect Core 1.0); signing in takes no form.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { findFreePort } from "../free-port.ts";

type Key = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];

interface Draft {
  claims: Record<string, unknown>;
  readonly key: Key;
  /** Published nowhere. */
  readonly foreignKey: Key;
  /** Seconds since 1970. */
  readonly now: number;
}

/** The ID token of the next sign-ins. Left out: what a right provider would sign. */
export type Forge = (draft: Draft) => Promise<string> | string;

export interface ForgingProvider {
  readonly issuer: string;
  forge: Forge | null;
  /** In place of what the token endpoint would answer. */
  answerToken: ((response: ServerResponse) => void) | null;
  /** In place of what discovery would. */
  answerDiscovery: ((response: ServerResponse) => void) | null;
  /** Laid over what discovery says. */
  discovery: Record<string, unknown>;
  stop(): Promise<void>;
}

export async function startForgingProvider(): Promise<ForgingProvider> {
  const port = await findFreePort();
  const issuer = `http://localhost:${port}`;
  const [own, foreign] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
  const jwks = { keys: [{ ...(await exportJWK(own.publicKey)), alg: "RS256", use: "sig", kid: "first" }] };
  const nonces = new Map<string, string>();
  const state: ForgingProvider = {
    issuer,
    forge: null,
    answerToken: null,
    answerDiscovery: null,
    discovery: {},
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const keys = { key: own.privateKey, foreignKey: foreign.privateKey };
  const server: Server = createServer((request, response) => {
    answer(request, response, { state, jwks, nonces, keys }).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  server.listen(port, "localhost");
  await once(server, "listening");
  return state;
}

interface Parts {
  readonly state: ForgingProvider;
  readonly jwks: object;
  /** Code → nonce. */
  readonly nonces: Map<string, string>;
  readonly keys: Pick<Draft, "key" | "foreignKey">;
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  const { state, jwks, nonces } = parts;
  const { issuer } = state;
  const url = new URL(request.url ?? "/", issuer);
  if (url.pathname === "/.well-known/openid-configuration") {
    if (state.answerDiscovery !== null) return state.answerDiscovery(response);
    const known = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
    return sendJson(response, { ...known, ...state.discovery });
  }
  if (url.pathname === "/keys") return sendJson(response, jwks);
  if (url.pathname === "/auth") {
    const code = `code-${nonces.size + 1}`;
    nonces.set(code, url.searchParams.get("nonce") ?? "");
    const back = new URL(url.searchParams.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", url.searchParams.get("state") ?? "");
    response.writeHead(302, { location: back.href });
    response.end();
    return;
  }
  if (url.pathname !== "/token") {
    response.statusCode = 404;
    response.end();
    return;
  }
  if (state.answerToken !== null) return state.answerToken(response);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const code = new URLSearchParams(Buffer.concat(chunks).toString()).get("code") ?? "";
  const token = await sign(parts, nonces.get(code) ?? "");
  sendJson(response, { access_token: "access", token_type: "Bearer", id_token: token });
}

async function sign({ state, keys }: Parts, nonce: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: state.issuer,
    sub: "anna",
    aud: "dashboard",
    iat: now,
    exp: now + 300,
    nonce,
    groups: ["viewers"],
  };
  const draft = { claims, ...keys, now };
  return state.forge === null ? signWith(draft) : state.forge(draft);
}

/** @param key Another than the published one. */
export function signWith(
  { claims, key: own }: Pick<Draft, "claims" | "key">,
  key: Key = own,
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "first" }).sign(key);
}

function sendJson(response: ServerResponse, body: object): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}
