/** A real identity provider (`oidc-provider`, certified) on a site of its own: `localhost`, where the dashboard is 127.0.0.1. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { findFreePort } from "../free-port.ts";

/** Who there is: whatever else is typed as a login is somebody without groups. */
export type Accounts = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface RealProviderOptions {
  /** Of the dashboard. */
  readonly baseUrl: string;
  /** Of `dashboard.oidc`. */
  readonly name: string;
  readonly accounts: Accounts;
  /** Null: a public client. */
  readonly secret?: string | null;
  readonly authMethod?: "client_secret_basic" | "client_secret_post";
  /** Groups stand in the ID token; else in the user info alone. */
  readonly groupsInIdToken?: boolean;
  readonly canSignOut?: boolean;
  readonly signingAlgorithm?: "RS256" | "ES256";
}

export interface RealProvider {
  readonly issuer: string;
  readonly clientId: string;
  /** Requests for codes' tokens so far. */
  readonly exchanges: () => number;
  /** Goes away: nothing answers there any more. */
  leave(): Promise<void>;
  /** Is there again, as it was. */
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

const CLIENT_ID = "dashboard";

export async function startRealProvider(options: RealProviderOptions): Promise<RealProvider> {
  const port = await findFreePort();
  const issuer = `http://localhost:${port}`;
  const provider = new Provider(issuer, await configure(options));
  let exchanges = 0;
  const answer = provider.callback();
  const listen = async (): Promise<Server> => {
    const server = createServer((request, response) => {
      if (request.url?.startsWith("/token")) exchanges += 1;
      answer(request, response);
    });
    server.listen(port, "localhost");
    await once(server, "listening");
    return server;
  };
  let server: Server | null = await listen();
  const leave = async (): Promise<void> => {
    const current = server;
    server = null;
    if (current === null) return;
    current.closeAllConnections();
    current.close();
    await once(current, "close");
  };
  return {
    issuer,
    clientId: CLIENT_ID,
    exchanges: () => exchanges,
    leave,
    async comeBack() {
      server = await listen();
    },
    stop: leave,
  };
}

async function configure(options: RealProviderOptions): Promise<object> {
  const {
    baseUrl,
    name,
    accounts,
    secret = "s3cret",
    canSignOut = true,
    signingAlgorithm = "RS256",
  } = options;
  const { privateKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: signingAlgorithm, use: "sig", kid: "first" };
  const method = secret === null ? "none" : (options.authMethod ?? "client_secret_basic");
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        ...(secret === null ? {} : { client_secret: secret }),
        token_endpoint_auth_method: method,
        id_token_signed_response_alg: signingAlgorithm,
        redirect_uris: [`${baseUrl}/sign-in/oidc/${name}/callback`],
        post_logout_redirect_uris: [`${baseUrl}/sign-in`],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    clientAuthMethods: [method],
    enabledJWA: { idTokenSigningAlgValues: [signingAlgorithm] },
    jwks: { keys: [key] },
    cookies: { keys: ["for tests"] },
    claims: {
      openid: ["sub"],
      profile: ["name"],
      email: ["email", "email_verified"],
      groups: ["groups", "realm_access"],
    },
    scopes: ["openid", "profile", "email", "groups"],
    conformIdTokenClaims: options.groupsInIdToken !== true,
    pkce: { required: () => true },
    features: { rpInitiatedLogout: { enabled: canSignOut } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => Promise.resolve({ name: id, ...accounts[id], sub: id }),
    }),
  };
}
