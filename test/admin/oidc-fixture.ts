/** The admin server with identity providers, whose people have roles in an organization. */
import { IdentityProviders } from "../../src/management/admin/identity/identity-providers.ts";
import type { OidcProviderConfig } from "../../src/shared/config/schema.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import { findFreePort } from "../support/free-port.ts";
import {
  type Accounts,
  type RealProvider,
  type RealProviderOptions,
  startRealProvider,
} from "../support/oidc/real-provider.ts";
import { signInAtProvider, WebClient, type WebAnswer } from "../support/oidc/web-client.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import type { AdminServerOptions } from "../../src/management/admin/server.ts";
import { type AdminUnderTest, createOrganization, startAdmin } from "./admin-fixture.ts";

export const ACCOUNTS: Accounts = {
  olga: { groups: ["platform"], name: "Olga Operator", email: "olga@example.com" },
  adam: { groups: ["others", "admins"], name: "Adam Admin" },
  vera: { groups: ["viewers"], name: "Vera Viewer" },
  mia: { groups: ["members"], name: "Mia Member", email: "mia@example.com" },
  max: { groups: ["members"], name: "Max Member" },
  nobody: { groups: ["others"], name: "No Body" },
};

export type Role = OidcProviderConfig["roles"][number];
export const NO_ORGANIZATION = "org_00000000-0000-7000-8000-000000000000";

/** `dashboard.oidc` as `gateway.yaml` has it, in the words of the file. */
export function readProviders(baseUrl: string, providers: readonly object[]): readonly OidcProviderConfig[] {
  const file = {
    upstreams: [{ name: "local", url: "http://127.0.0.1:8000" }],
    catalog: [
      {
        id: "a/b",
        upstream: "local",
        upstream_model: "b",
        context_window: 1000,
        max_output_tokens: 100,
        prices: { USD: { input: "1", output: "1" } },
      },
    ],
    dashboard: { base_url: baseUrl, oidc: providers },
  };
  return parseConfig(JSON.stringify(file), { baseDir: "/", env: { SECRET: "s3cret" } }).dashboard.oidc;
}

/** Of every provider of a test. */
export function rolesIn(organization: string): object[] {
  return [
    { equals: "platform", role: "operator" },
    { equals: "admins", role: "admin", organization },
    { equals: "viewers", role: "viewer", organization },
    { equals: "members", role: "member", organization },
  ];
}

export interface SignInUnderTest {
  readonly admin: AdminUnderTest;
  /** What all hosts share. */
  readonly store: Store;
  readonly organization: string;
  readonly url: string;
  readonly provider: RealProvider;
  /** As the provider's people sign in, up to the page behind it. */
  signIn(login: string, options?: SignInOptions): Promise<SignedIn>;
  /** Another host on the same store, with another `gateway.yaml`. */
  startHost(providers: readonly object[], options?: Partial<AdminServerOptions>): Promise<AdminUnderTest>;
  stop(): Promise<void>;
}

interface SignInOptions {
  readonly next?: string;
  readonly client?: WebClient;
}

export interface SignedIn {
  readonly client: WebClient;
  /** What the dashboard has answered to the browser that came back. */
  readonly answer: WebAnswer;
  /** The address that it came back to. */
  readonly callback: string;
}

type ProviderOptions = Partial<Omit<RealProviderOptions, "baseUrl">> & { readonly entry?: object };

export async function startSignIn(options: ProviderOptions = {}): Promise<SignInUnderTest> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const { entry = {}, ...rest } = options;
  const provider = await startRealProvider({ baseUrl: url, name: "corp", accounts: ACCOUNTS, ...rest });
  const secret = rest.secret === null ? {} : { client_secret: { env: "SECRET" } };
  const first = await startAdmin();
  const organization = await createOrganization(first);
  const scopes = ["openid", "profile", "groups"];
  const corp = { name: "corp", issuer: provider.issuer, client_id: provider.clientId, ...secret, scopes };
  const startHost = (providers: readonly object[], given: Partial<AdminServerOptions> = {}) => {
    const configs = readProviders(url, providers);
    const nowMs = given.nowMs ?? Date.now;
    const options = {
      providers: new IdentityProviders({ configs, baseUrl: url, nowMs }),
      store: first.store,
    };
    return startAdmin({ ...options, ...given });
  };
  const admin = await startHost([{ ...corp, roles: rolesIn(organization), ...entry }], { port });
  return {
    admin,
    store: first.store,
    organization,
    url,
    provider,
    startHost,
    async signIn(login, { next = "", client = new WebClient() } = {}) {
      const start = `${url}/sign-in/oidc/corp${next === "" ? "" : `?next=${encodeURIComponent(next)}`}`;
      const callback = await signInAtProvider(client, start, { login, dashboard: url });
      return { client, callback, answer: await client.get(callback) };
    },
    async stop() {
      await provider.stop();
      await admin.stop();
      await first.stop();
    },
  };
}

/** Where a page leads by itself. */
export function goesTo({ text }: Pick<WebAnswer, "text">): string | undefined {
  return /http-equiv="refresh" content="0;url=([^"]+)"/u.exec(text)?.[1]?.replaceAll("&amp;", "&");
}

export interface AuditRow {
  readonly action: string;
  readonly actor: Readonly<Record<string, unknown>>;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Newest first. */
export async function readAudit(admin: AdminUnderTest, path: string): Promise<readonly AuditRow[]> {
  return (await admin.ok("GET", path))["data"] as readonly AuditRow[];
}
