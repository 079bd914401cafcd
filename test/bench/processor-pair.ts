/** Another ext_proc server than the gateway's, behind an Envoy of its own: what the gateway is compared with. */
import type { Child } from "../support/child.ts";
import { type EditableBootstrap, startSideEnvoy } from "../support/side-envoy.ts";
import { findProcesses, type Process } from "./processes.ts";

/** The gateway's Envoy, to be copied. */
export interface GatewayEnvoy {
  /** The bootstrap that it runs with. */
  readonly bootstrap: string;
  /** Its `--concurrency`. */
  readonly concurrency: string | null;
  /** The upstream in front of the mock. */
  readonly upstream: string;
  /** For files. */
  readonly dir: string;
}

export interface ProcessorPair {
  readonly baseUrl: string;
  /** The ext_proc server as `sidecar`, and its Envoy. */
  readonly processes: readonly Process[];
  /** The two programs. */
  readonly children: readonly Child[];
  stop(): Promise<void>;
}

/** Starts the Envoy and resolves when it answers; `processor` is stopped with it, or when it does not start. */
export async function startPair(
  name: string,
  processor: Child,
  { bootstrap, concurrency, dir }: GatewayEnvoy,
  edit: (bootstrap: EditableBootstrap) => void,
): Promise<ProcessorPair> {
  // What it has to say when it ends is nothing to wait long for; its whole group is killed then.
  const stopProcessor = async (): Promise<void> => {
    await processor.stop(5_000).catch(() => undefined);
  };
  try {
    const ofEnvoy = concurrency === null ? {} : { concurrency };
    const envoy = await startSideEnvoy({ bootstrap, dir, name, edit, ...ofEnvoy });
    const ofProcessor = findProcesses(processor.pid).map((found) => ({ ...found, kind: "sidecar" as const }));
    const stop = async (): Promise<void> => {
      await envoy.stop();
      await stopProcessor();
    };
    return {
      baseUrl: envoy.baseUrl,
      processes: [...ofProcessor, ...findProcesses(envoy.child.pid)],
      children: [processor, envoy.child],
      stop,
    };
  } catch (thrown) {
    await stopProcessor();
    throw thrown;
  }
}
