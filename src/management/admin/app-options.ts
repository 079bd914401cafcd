/** What the admin server is made of, and what its parts add their routes to. */
import type { Hono } from "hono";
import type { ApiServices } from "./api/route.ts";
import type { IdentityProviders } from "./identity/identity-providers.ts";
import type { Principal } from "./principal.ts";

export interface MetricsPage {
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** `telemetry.metrics_token`. */
  readonly token: string | null;
  /** Without a token of its own: whether nobody but this machine reaches the admin port. */
  readonly isLocal: boolean;
}

export interface AdminAppOptions extends ApiServices {
  /** Whether the host's workers take requests: not before they have started, nor once they stop. True when left out. */
  readonly areWorkersReady?: () => boolean | Promise<boolean>;
  /** May do everything. */
  readonly operatorToken: string;
  readonly nowMs: () => number;
  /** Left out: there is no `GET /metrics`. */
  readonly metrics?: MetricsPage;
  /** Where clients reach the gateway, for the dashboard's snippets; `http://127.0.0.1:10000` when left out. */
  readonly gatewayUrl?: string;
  /** Of `dashboard.oidc`; left out: people sign in with a token alone. */
  readonly providers?: IdentityProviders;
  /** Whether the pages take a token; true when left out. */
  readonly takesTokens?: boolean;
  /** Whom customers ask about what they cannot change: a mail address or a URL; null or left out: nobody is named. */
  readonly contact?: string | null;
}

export type AdminEnvironment = { Variables: { requestId: string; principal: Principal } };

export type AdminApp = Hono<AdminEnvironment>;

/** Hosts that stand for every address of a machine. */
const ANY_HOST = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Where clients reach the gateway: as configured; else the address it listens on, with the host by which the reader
 * reached this page where it listens on all.
 */
export function formatGatewayUrl(options: { readonly gatewayUrl?: string }, pageUrl: string): string {
  const configured = options.gatewayUrl ?? "http://127.0.0.1:10000";
  const url = new URL(configured);
  if (ANY_HOST.has(url.hostname)) url.hostname = new URL(pageUrl).hostname;
  return url.href.replace(/\/$/, "");
}
