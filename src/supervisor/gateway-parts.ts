/**
 * The seam between processes and what runs in them. This folder starts, watches and ends processes and knows nothing
 * of requests; the composition roots (worker.ts, host-services.ts) make what runs inside and know nothing of processes.
 */
import type { Channel } from "../host/channel.ts";
import type { ConfigState } from "../config/reload/config-state.ts";
import type { Config } from "../config/schema.ts";

export interface WorkerOptions {
  /** In force: what `up` decided (sockets, private Redis) is in it already. */
  readonly config: Config;
  readonly index: number;
  /** Where the gRPC server listens: `unix:/run/gateway-0.sock` or `127.0.0.1:9000`. Nothing else listens there. */
  readonly address: string;
  readonly channel: Channel;
}

/** What runs in one worker process, listening. */
export interface RunningWorker {
  /**
   * Says that it is not ready, takes no new work, lets the streams in flight run out, settles what they used. Resolves
   * when nothing is left; rejects when something is after `boundMs`, which makes the exit code 1.
   */
  drain(boundMs: number): Promise<void>;
  /** This catalog is in force for requests that begin from now on. */
  replaceCatalog(catalog: Config["catalog"]): void;
}

export interface SupervisorServicesOptions {
  readonly config: Config;
  /** The operator's token, from the configuration or made on the first run. */
  readonly operatorToken: string;
  /** Whether every worker has started and none was asked to stop yet. */
  readonly areWorkersReady: () => boolean;
  /**
   * Asks for the demo organization and its key (`up` does, `serve` alone never): the key that was kept from an earlier
   * run, or null. Null when no demo is wanted.
   */
  readonly demo: { readonly storedKey: string | null } | null;
  readonly channel: Channel;
  /** Called at most once, when Redis has not answered within two seconds; its address has no password. */
  readonly onRedisAwaited: (address: string) => void;
  /** How the running configuration stands to its file. */
  readonly readConfigState: () => ConfigState;
}

/** What runs once per host beside the workers: admin server, alert delivery, closing of holds, metrics. */
export interface SupervisorServices {
  /** Without a slash at the end; null when there is no admin server. */
  readonly adminUrl: string | null;
  /** The demo organization's key, the stored one when it is still good; null when no demo was asked for. */
  readonly demoKey: string | null;
  replaceCatalog(catalog: Config["catalog"]): void;
  /** Ends after the workers have. Rejects when something that had to be kept could not be. */
  close(): Promise<void>;
}
