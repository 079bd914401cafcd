/** The gateway's own Envoy in front of a sidecar that decides nothing (`noop-sidecar.ts`). */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SIDECAR_CLUSTER } from "../../src/envoy/names.ts";
import { askForBodies } from "../support/ask-for-bodies.ts";
import { type Child, startChild } from "../support/child.ts";
import { type EditableBootstrap, startSideEnvoy } from "../support/side-envoy.ts";

export interface NoopOptions {
  /** The bootstrap that the gateway's Envoy runs with. */
  readonly bootstrap: string;
  readonly concurrency: string | null;
  readonly upstream: string;
  readonly path: string;
  readonly dir: string;
}

export interface NoopPair {
  readonly baseUrl: string;
  readonly sidecarPid: number;
  readonly envoyPid: number;
  stop(): Promise<void>;
}

/** Starts both and resolves when they answer. */
export async function startNoopPair(options: NoopOptions): Promise<NoopPair> {
  const { bootstrap, concurrency, dir } = options;
  const socketPath = join(dir, "noop-sidecar.sock");
  const sidecar = await startSidecar(options, socketPath);
  try {
    const envoy = await startSideEnvoy({
      bootstrap,
      dir,
      name: "noop",
      edit: (editable) => {
        pointAt(editable, socketPath);
        askForBodies(editable);
      },
      ...(concurrency === null ? {} : { concurrency }),
    });
    const stop = async (): Promise<void> => {
      await envoy.stop();
      await sidecar.stop(5_000);
    };
    return { baseUrl: envoy.baseUrl, sidecarPid: sidecar.pid, envoyPid: envoy.child.pid, stop };
  } catch (thrown) {
    await sidecar.stop(5_000);
    throw thrown;
  }
}

async function startSidecar({ upstream, path }: NoopOptions, socket: string): Promise<Child> {
  const program = fileURLToPath(new URL("noop-sidecar.ts", import.meta.url));
  const args = ["--import", import.meta.resolve("tsx"), program, socket, upstream, path];
  const child = startChild(process.execPath, args);
  await child.waitForLine("the no-op sidecar", (line) => (line.includes("listening") ? true : null));
  return child;
}

/** One endpoint, the no-op sidecar's socket, in the place of the workers. */
function pointAt({ clusters }: EditableBootstrap, socketPath: string): void {
  const cluster = clusters.find(({ name }) => name === SIDECAR_CLUSTER);
  if (cluster === undefined) throw new Error(`the bootstrap has no cluster "${SIDECAR_CLUSTER}"`);
  const endpoint = { endpoint: { address: { pipe: { path: socketPath } } } };
  cluster["load_assignment"] = {
    cluster_name: SIDECAR_CLUSTER,
    endpoints: [{ lb_endpoints: [endpoint] }],
  };
}
