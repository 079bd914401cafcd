/** A stack's gateway behind an Envoy of its own that waits for a second where the shipped one waits for a minute or more. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type EditableBootstrap, type SideEnvoy, startSideEnvoy } from "../../support/side-envoy.ts";

const WAIT = "1s";

export async function startImpatientEnvoy(stackDir: string): Promise<SideEnvoy> {
  return startSideEnvoy({
    bootstrap: await readFile(join(stackDir, "run/envoy.yaml"), "utf8"),
    dir: stackDir,
    name: "impatient",
    edit: shortenWaits,
  });
}

function shortenWaits({ manager }: EditableBootstrap): void {
  manager["request_timeout"] = WAIT;
  manager["stream_idle_timeout"] = WAIT;
  const { virtual_hosts: hosts } = manager["route_config"] as { virtual_hosts: { routes: Route[] }[] };
  // A route's own idle timeout would win over the listener's.
  for (const { routes } of hosts) {
    for (const { route } of routes) if (route?.["idle_timeout"] !== undefined) route["idle_timeout"] = WAIT;
  }
}

interface Route {
  readonly route?: Record<string, unknown>;
}
