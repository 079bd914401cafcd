/** Options of the admin server, shared with the parts that add routes to it. */
import type { Hono } from "hono";
import type { HostFinding } from "../../shared/host/finding.ts";
import type { ApiServices } from "./api/route.ts";
import type { IdentityProviders } from "./identity/identity-providers.ts";
import type { ModelCounts } from "./model-status.ts";
import type { Principal } from "./principal.ts";

export interface MetricsPage {
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** `telemetry.metrics_token`. */
  readonly token: string | null;
  /** Without a separate token: whether the admin port is only reachable from this host. */
  readonly isLocal: boolean;
}

export interface AdminAppOptions extends ApiServices {
  /**
   * Returns whether the host's workers accept requests: false before they have started, and once they stop.
   * Default: true.
   */
  readonly areWorkersReady?: () => boolean | Promise<boolean>;
  /** Token with all rights. */
  readonly operatorToken: string;
  readonly nowMs: () => number;
  /** Omitted: there is no `GET /metrics`. */
  readonly metrics?: MetricsPage;
  /** Address of the gateway for clients, for the dashboard's snippets. Default: `http://127.0.0.1:10000`. */
  readonly gatewayUrl?: string;
  /** Providers of `dashboard.oidc`. Omitted: sign-in with tokens only. */
  readonly providers?: IdentityProviders;
  /** Whether the sign-in page accepts tokens. Default: true. */
  readonly takesTokens?: boolean;
  /** Examines the gateway of this host. Omitted: there is no page *System*. */
  readonly examine?: () => Promise<readonly HostFinding[]>;
  /** Overall state of the models. Omitted: unknown. */
  readonly modelStatus?: { readonly counts: ModelCounts | null };
  /** Contact for customers about settings that they cannot change: an email address or a URL; null or omitted: none. */
  readonly contact?: string | null;
}

export type AdminEnvironment = { Variables: { requestId: string; principal: Principal } };

export type AdminApp = Hono<AdminEnvironment>;

/** Hosts that mean all addresses of a machine. */
const ANY_HOST = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Returns the address of the gateway for clients: as configured; otherwise the listening address, with the
 * host of the reader's URL if it listens on all.
 */
export function formatGatewayUrl(options: { readonly gatewayUrl?: string }, pageUrl: string): string {
  const configured = options.gatewayUrl ?? "http://127.0.0.1:10000";
  const url = new URL(configured);
  if (ANY_HOST.has(url.hostname)) url.hostname = new URL(pageUrl).hostname;
  return url.href.replace(/\/$/, "");
}
