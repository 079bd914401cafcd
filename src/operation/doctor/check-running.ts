/** Whether a gateway runs at all: without one, everything else that does not answer follows from that. */
import type { Config } from "../../shared/config/schema.ts";
import { type Target, tryConnect } from "../../shared/host/connect.ts";
import { addressesOfWorkers } from "./check-workers.ts";
import { type DoctorFinding, found } from "./finding.ts";
import { envoyAdminSocket } from "./read-envoy-admin.ts";

/** Nothing where any part of it takes a connection: one that hangs is told by its own check. */
export async function checkRunning(config: Config): Promise<DoctorFinding[]> {
  const addresses = [...addressesOfWorkers(config), { path: envoyAdminSocket(config) }];
  const isThere = await Promise.all(addresses.map(isListening));
  if (isThere.includes(true)) return [];
  const message = `No gateway runs with this configuration: no worker and no Envoy accepts a connection (${config.sidecar.sockets}).`;
  return [found("gateway_not_running", "gateway", { message })];
}

async function isListening(address: Target["address"]): Promise<boolean> {
  return tryConnect({ address }).then(
    () => true,
    () => false,
  );
}
