/**
 * The seam between processes and what runs in them. This folder starts, watches and ends processes and knows nothing
 * of requests; the composition roots (worker.ts, admin-api.ts, host-services.ts) make what runs inside and know nothing
 * of processes.
 */
import type { Channel } from "../../shared/host/channel.ts";
import type { ConfigState } from "../../shared/config/reload/config-state.ts";
import type { Config } from "../../shared/config/schema.ts";

/** What each process is started with. */
export interface ProcessOptions {
  /** In force: what `up` decided (sockets, private Redis) is in it already. */
  readonly config: Config;
  /** To the supervisor. */
  readonly channel: Channel;
}

export interface WorkerOptions extends ProcessOptions {
  readonly index: number;
  /** Where the gRPC server listens: `unix:/run/gateway-0.sock` or `127.0.0.1:9000`. Nothing else listens there. */
  readonly address: string;
}

/** What runs in one process, listening. */
export interface RunningProcess {
  /**
   * Says that it is not ready, takes no new work, lets what is in flight run out, settles what that used. Resolves when
   * nothing is left; rejects when something is after `boundMs`, which makes the exit code 1.
   */
  drain(boundMs: number): Promise<void>;
  /** This catalog is in force for what begins from now on. */
  replaceCatalog(catalog: Config["catalog"]): void;
}

export interface RunningAdmin extends RunningProcess {
  /** Without a slash at the end. */
  readonly url: string;
}

export interface SupervisorServicesOptions {
  readonly config: Config;
  /** Whether every worker has started and none was asked to stop yet. */
  readonly areWorkersReady: () => boolean;
  /**
   * Asks for the demo organization and its key (`up` does, `serve` alone never): the key that was kept from an earlier
   * run, or null. Null when no demo is wanted.
   */
  readonly demo: { readonly storedKey: string | null } | null;
  readonly channels: { readonly workers: Channel; readonly admin: Channel };
  /** Called at most once, when Redis has not answered within two seconds; its address has no password. */
  readonly onRedisAwaited: (address: string) => void;
  /** How the running configuration stands to its file. */
  readonly readConfigState: () => ConfigState;
}

/** What runs once per host in the supervisor's process: probes, alert delivery, closing of holds, metrics. */
export interface SupervisorServices {
  /** The demo organization's key, the stored one when it is still good; null when no demo was asked for. */
  readonly demoKey: string | null;
  /** Begins with alerts, whose links lead to these pages where the configuration names no other. */
  deliverAlerts(adminUrl: string): void;
  /** Ends after the other processes have. Rejects when something that had to be kept could not be. */
  close(): Promise<void>;
}
