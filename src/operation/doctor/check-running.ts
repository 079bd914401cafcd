/** Checks whether a gateway runs at all: otherwise all other failures follow from that. */
import type { Config } from "../../shared/config/schema.ts";
import { type Target, tryConnect } from "../../shared/host/connect.ts";
import { addressesOfWorkers } from "./check-workers.ts";
import { type DoctorFinding, found } from "./finding.ts";
import { envoyAdminSocket } from "./read-envoy-admin.ts";

/** No findings if any part accepts connections: a hanging part has its own check. */
export async function checkRunning(config: Config): Promise<DoctorFinding[]> {
  const addresses = [...addressesOfWorkers(config), { path: envoyAdminSocket(config) }];
  const areListening = await Promise.all(addresses.map(isListening));
  if (areListening.includes(true)) return [];
  const message = `No gateway runs with this configuration: no worker and no Envoy accepts a connection (${config.sidecar.sockets}).`;
  return [found("gateway_not_running", "gateway", { message })];
}

async function isListening(address: Target["address"]): Promise<boolean> {
  return tryConnect({ address }).then(
    () => true,
    () => false,
  );
}
