import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { resolveWorkerCount } from "../../shared/config/worker-count.ts";
import { workerSocketName } from "../../envoy/names.ts";

/** Lists the address of each worker: `unix:/run/gateway-0.sock`, or host, colon, port: `127.0.0.1:9000`, `::1:9000`. */
export function listWorkerAddresses(config: Config): readonly string[] {
  const { sockets, tcp, workers } = config.sidecar;
  return Array.from({ length: resolveWorkerCount(workers) }, (_, index) => {
    if (tcp === null) return `unix:${join(sockets, workerSocketName(index))}`;
    return `${tcp.host}:${tcp.port + index}`;
  });
}

/** Lists the paths of their Unix sockets: all or none. */
export function listWorkerSockets(config: Config): readonly string[] {
  if (config.sidecar.tcp !== null) return [];
  return listWorkerAddresses(config).map((address) => address.slice("unix:".length));
}
