/** The gateway's own Envoy in front of a sidecar that decides nothing (`noop-sidecar.ts`). */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WORKER_CLUSTERS } from "../../src/envoy/names.ts";
import { askForBodies } from "../support/ask-for-bodies.ts";
import { type Child, startChild } from "../support/child.ts";
import type { EditableBootstrap } from "../support/side-envoy.ts";
import { type GatewayEnvoy, type ProcessorPair, startPair } from "./processor-pair.ts";
import { CHAT_PATH } from "./workloads.ts";

/** Starts both and resolves when they answer. */
export async function startNoopPair(gateway: GatewayEnvoy): Promise<ProcessorPair> {
  const socketPath = join(gateway.dir, "noop-sidecar.sock");
  const sidecar = await startSidecar(gateway, socketPath);
  return await startPair("noop", sidecar, gateway, (bootstrap) => {
    pointAt(bootstrap, socketPath);
    askForBodies(bootstrap);
  });
}

async function startSidecar({ upstream }: GatewayEnvoy, socket: string): Promise<Child> {
  const program = fileURLToPath(new URL("noop-sidecar.ts", import.meta.url));
  const args = ["--import", import.meta.resolve("tsx"), program, socket, upstream, CHAT_PATH];
  const child = startChild(process.execPath, args);
  await child.waitForLine("the no-op sidecar", (line) => (line.includes("listening") ? true : null));
  return child;
}

/** One endpoint, the no-op sidecar's socket, in the place of the workers. */
function pointAt({ clusters }: EditableBootstrap, socketPath: string): void {
  const endpoint = { endpoint: { address: { pipe: { path: socketPath } } } };
  for (const name of WORKER_CLUSTERS) {
    const cluster = clusters.find((one) => one.name === name);
    if (cluster === undefined) throw new Error(`the bootstrap has no cluster "${name}"`);
    cluster["load_assignment"] = { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] };
  }
}
