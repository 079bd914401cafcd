/** Others beside the request path: an admin of the victim with API and dashboard, and the probe of the host. */
import { setTimeout as wait } from "node:timers/promises";
import { send } from "../support/http.ts";
import { cookieOf, createPageClient } from "../support/page-client.ts";
import type { Timed } from "./figures.ts";
import type { RunningVictim } from "./victim.ts";

export interface Watched extends Timed {
  readonly kind: "call" | "probe";
  /** Null: it was answered as it had to be. */
  readonly failure: string | null;
}

export interface WatcherOptions {
  readonly adminUrl: string;
  readonly healthUrl: string;
  readonly organizationId: string;
  readonly token: string;
  readonly onWatched: (watched: Watched) => void;
}

interface Call {
  readonly url: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const PACE_MS = 100;
export const KINDS_OF_CALLS = 6;

export async function startWatchers(options: WatcherOptions): Promise<RunningVictim> {
  const { adminUrl, healthUrl, onWatched } = options;
  const calls = await listCalls(options);
  const state = { isStopped: false };
  const run = async (kind: Watched["kind"], choose: (turn: number) => Call): Promise<void> => {
    for (let turn = 0; !state.isStopped; turn += 1) {
      const sentMs = performance.now();
      const failure = await findFailure(choose(turn));
      onWatched({ kind, sentMs, endedMs: performance.now(), failure });
      await wait(PACE_MS);
    }
  };
  const running = [
    run("probe", () => ({ url: healthUrl, path: "/readyz" })),
    run("call", (turn) => calls[turn % calls.length] ?? { url: adminUrl, path: "/" }),
  ];
  return {
    async stop() {
      state.isStopped = true;
      await Promise.all(running);
    },
  };
}

/** One of each kind: reads, changes, a report and a page of the dashboard. */
async function listCalls({ adminUrl: url, organizationId, token }: WatcherOptions): Promise<readonly Call[]> {
  const path = `/api/organizations/${organizationId}`;
  const headers = { authorization: `Bearer ${token}` };
  const cookie = cookieOf(await createPageClient(url).signIn(token));
  return [
    { url, path, headers },
    { url, path: `${path}/keys`, headers },
    { url, path, headers, method: "PATCH", body: { hide_amounts: true } },
    { url, path, headers, method: "PATCH", body: { hide_amounts: false } },
    { url, path: `${path}/usage?group_by=day`, headers },
    { url, path: `/organizations/${organizationId}`, headers: { accept: "text/html", cookie } },
  ];
}

async function findFailure({ url, ...call }: Call): Promise<string | null> {
  const { method = "GET", path } = call;
  try {
    const { status, complete, text } = await send(url, { ...call, method });
    return status === 200 && complete ? null : `${method} ${path}: ${status} ${text.slice(0, 300)}`;
  } catch (error) {
    return `${method} ${path}: ${String(error)}`;
  }
}
