/**
 * The parts of `openid-client` that we use, imported by name so that a bundle contains no more. This module
 * is only loaded by `import()`, if a provider is configured.
 */
import {
  allowInsecureRequests,
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
} from "openid-client";
import type { JsonObject } from "../../shared/text/json-object.ts";
import { OidcError } from "./oidc-error.ts";

/** Maximum size of a provider's response: its keys, tokens, or user info. */
const MAX_ANSWER_BYTES = 1024 * 1024;

interface RequestOptions {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Like `fetch`, with a bounded response that is read completely.
 * @throws TypeError like `fetch`, and for a response that is too long.
 */
async function boundedFetch(url: string, options: object): Promise<Response> {
  const { method, headers, body, signal } = options as RequestOptions;
  const answer = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    ...(body === undefined || body === null ? {} : { body: body as URLSearchParams }),
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Typed explicitly: the DOM's type of a stream is not iterable, Node's is.
  const stream = answer.body as AsyncIterable<Uint8Array> | null;
  for await (const chunk of stream ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new TypeError(`the response has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, statusText, headers: answered } = answer;
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, statusText, headers: answered });
}

/** Timeout of each request to a provider. */
const TIMEOUT_SECONDS = 5;
/** Allows for clocks that differ by a minute, and for a token's transmission. */
const CLOCK_TOLERANCE_SECONDS = 90;

export interface Client {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly secret: string | null;
}

/** Values that bind a browser's round trip to the provider. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** ID token whose signature, issuer, audience, nonce and times were checked. */
export interface IdToken {
  readonly claims: JsonObject;
  /** The token as received. */
  readonly text: string;
  readonly accessToken: string;
}

/** Requests to one provider. */
export interface OidcClient {
  /** Returns the address to send the browser to. */
  createAuthorizationUrl(request: AuthorizationRequest): Promise<string>;
  /**
   * Exchanges the code with which the browser returned.
   * @param callback Address to which it returned, as registered with the provider.
   * @throws OidcError
   */
  redeem(callback: URL, checks: Checks): Promise<IdToken>;
  /** Reads the provider's user info. Null: it offers none. @throws OidcError */
  readUserInfo(idToken: Pick<IdToken, "accessToken" | "claims">): Promise<JsonObject | null>;
  /** Returns where the provider ends its own session. Null: it offers none. */
  createSignOutUrl(request: SignOutRequest): string | null;
}

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly checks: Checks;
}

export interface SignOutRequest {
  /** Null: it was too long to store. */
  readonly idToken: string | null;
  readonly returnTo: string;
}

/**
 * Fetches the provider's metadata.
 * @throws OidcError `away`.
 */
export async function openClient(client: Client): Promise<OidcClient> {
  const configuration = await discover(client);
  return {
    createAuthorizationUrl: (request) => createAuthorizationUrl(configuration, request),
    redeem: (callback, checks) => redeem(configuration, callback, checks),
    readUserInfo: (idToken) => readUserInfo(configuration, idToken),
    createSignOutUrl: (request) => createSignOutUrl(configuration, request),
  };
}

async function discover({ issuer, clientId, secret }: Client): Promise<Configuration> {
  const server = new URL(issuer);
  const metadata = { [clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  // The schema only allows `http` on loopback.
  const insecure = server.protocol === "http:" ? [allowInsecureRequests] : [];
  const options = {
    timeout: TIMEOUT_SECONDS,
    // Without this the ID token's signature is not checked.
    execute: [enableNonRepudiationChecks, ...insecure],
    [customFetch]: boundedFetch,
  };
  try {
    return await discovery(
      server,
      clientId,
      metadata,
      secret === null ? None() : authenticate(secret),
      options,
    );
  } catch (thrown) {
    throw new OidcError("unreachable", describe(thrown));
  }
}

/**
 * Sends the secret in the header if the provider supports it. @see OpenID Connect Discovery 1.0, section 3,
 * for the default.
 */
function authenticate(secret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...request) => {
    const { token_endpoint_auth_methods_supported: methods } = server;
    const takesBasic = methods === undefined || methods.includes("client_secret_basic");
    return (takesBasic ? basic : post)(server, ...request);
  };
}

async function createAuthorizationUrl(
  configuration: Configuration,
  { redirectUri, scopes, checks }: AuthorizationRequest,
): Promise<string> {
  return buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: scopes.join(" "),
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await calculatePKCECodeChallenge(checks.codeVerifier),
    code_challenge_method: "S256",
  }).href;
}

async function redeem(configuration: Configuration, callback: URL, checks: Checks): Promise<IdToken> {
  try {
    const tokens = await authorizationCodeGrant(configuration, callback, {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.codeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || tokens.id_token === undefined) {
      throw new OidcError("refused", "the provider sent no ID token");
    }
    return { claims, text: tokens.id_token, accessToken: tokens.access_token };
  } catch (thrown) {
    throw convert(thrown);
  }
}

async function readUserInfo(
  configuration: Configuration,
  { accessToken, claims }: Pick<IdToken, "accessToken" | "claims">,
): Promise<JsonObject | null> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return null;
  try {
    return await fetchUserInfo(configuration, accessToken, String(claims["sub"]));
  } catch (thrown) {
    throw convert(thrown);
  }
}

function createSignOutUrl(
  configuration: Configuration,
  { idToken, returnTo }: SignOutRequest,
): string | null {
  if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
  return buildEndSessionUrl(configuration, {
    post_logout_redirect_uri: returnTo,
    ...(idToken === null ? {} : { id_token_hint: idToken }),
  }).href;
}

function convert(thrown: unknown): OidcError {
  if (thrown instanceof OidcError) return thrown;
  const code = codeOf(thrown);
  const isNetwork = thrown instanceof TypeError && code === undefined;
  const isServer = thrown instanceof ResponseBodyError && thrown.status >= 500;
  const isUnreachable =
    isNetwork || isServer || code === "OAUTH_TIMEOUT" || code === "OAUTH_RESPONSE_IS_NOT_CONFORM";
  if (isUnreachable) return new OidcError("unreachable", describe(thrown));
  const isTime = code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED";
  return new OidcError(isTime ? "clock" : "refused", describe(thrown));
}

/** Omits an error's `cause`, in which the library stores the provider's response. */
function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "an unknown error";
  const isAnswer = thrown instanceof AuthorizationResponseError || thrown instanceof ResponseBodyError;
  const code = isAnswer ? thrown.error : codeOf(thrown);
  return code === undefined ? thrown.message : `${thrown.message} (${code})`;
}

function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown) || typeof thrown.code !== "string") return undefined;
  return thrown.code.startsWith("OAUTH_") ? thrown.code : undefined;
}
