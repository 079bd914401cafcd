/**
 * Interface between processes and the services in them. This directory starts, watches and ends processes and
 * knows nothing of requests; the entry points (worker.ts, admin-api.ts, host-services.ts) create the services
 * and know nothing of processes.
 */
import type { Channel } from "../../shared/host/channel.ts";
import type { ConfigState } from "../../shared/config/reload/config-state.ts";
import type { Config } from "../../shared/config/schema.ts";

/** Inputs of each process. */
export interface ProcessOptions {
  /** Running configuration, including the launcher's overrides (sockets, private Redis). */
  readonly config: Config;
  /** Channel to the supervisor. */
  readonly channel: Channel;
}

export interface WorkerOptions extends ProcessOptions {
  readonly index: number;
  /** Address of the gRPC server: `unix:/run/gateway-0.sock` or `127.0.0.1:9000`, used by this process only. */
  readonly address: string;
}

/** Services running in one process. */
export interface RunningProcess {
  /**
   * Reports not ready, accepts no new work, waits for work in flight and settles it. Resolves when nothing is
   * left; rejects if something is after `boundMs`, which makes the exit code 1.
   */
  drain(boundMs: number): Promise<void>;
  /** Uses this catalog for new requests. */
  replaceCatalog(catalog: Config["catalog"]): void;
}

export interface RunningAdmin extends RunningProcess {
  /** Without a final slash. */
  readonly url: string;
}

export interface SupervisorServicesOptions {
  readonly config: Config;
  /** Returns whether every worker has started and none is stopping. */
  readonly areWorkersReady: () => boolean;
  /**
   * Requests the demo organization and its key (only for `up`): the key from an earlier run, or null. Null:
   * no demo.
   */
  readonly demo: { readonly storedKey: string | null } | null;
  readonly channels: { readonly workers: Channel; readonly admin: Channel };
  /** Called at most once, if Redis has not answered within two seconds; the address has no password. */
  readonly onRedisAwaited: (address: string) => void;
  /** Returns the difference between the running configuration and its file. */
  readonly readConfigState: () => ConfigState;
}

/** Services that run once per host in the supervisor's process: probes, alert delivery, the reaper, metrics. */
export interface SupervisorServices {
  /** Demo organization's key, the stored one if still valid; null without a demo. */
  readonly demoKey: string | null;
  /** Starts alerts, whose links lead to these pages unless the configuration names others. */
  deliverAlerts(adminUrl: string): void;
  /** Ends after the other processes. Rejects if data could not be saved. */
  close(): Promise<void>;
}
