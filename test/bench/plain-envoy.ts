/** Plain Envoy: the gateway's own bootstrap with everything of the gateway taken out of it. */
import { type EditableBootstrap, type SideEnvoy, startSideEnvoy } from "../support/side-envoy.ts";
import type { GatewayEnvoy } from "./processor-pair.ts";

/** Starts it and resolves when it answers. */
export function startPlainEnvoy(gateway: GatewayEnvoy): Promise<SideEnvoy> {
  const { bootstrap, dir, upstream, concurrency } = gateway;
  return startSideEnvoy({
    bootstrap,
    dir,
    name: "plain",
    edit: (editable) => takeGatewayOut(editable, upstream),
    ...(concurrency === null ? {} : { concurrency }),
  });
}

/** No filter but the router, no access log, no header rules: every request straight to the one cluster. */
export function takeGatewayOut(bootstrap: EditableBootstrap, upstream: string): void {
  const { manager } = bootstrap;
  manager["http_filters"] = (manager["http_filters"] as { name: string }[]).filter(
    (filter) => filter.name === "envoy.filters.http.router",
  );
  delete manager["local_reply_config"];
  delete manager["early_header_mutation_extensions"];
  const route = { match: { prefix: "/" }, route: { cluster: upstream, timeout: "0s" } };
  manager["route_config"] = { virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] };
  bootstrap.clusters = bootstrap.clusters.filter((cluster) => cluster.name === upstream);
}
