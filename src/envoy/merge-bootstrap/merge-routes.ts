/**
 * Merges routes: the gateway's form a separate virtual host. The operator's services keep their routes, with
 * the gateway's filters disabled.
 */
import type { YAMLMap } from "yaml";
import { disableAll } from "../bootstrap/routes.ts";
import { type EnvoyNode, oneLine } from "../bootstrap/yaml-document.ts";
import {
  type BootstrapFile,
  findField,
  findList,
  findMap,
  membersOf,
  type Place,
  refuse,
  textOf,
} from "./bootstrap-file.ts";

const HOSTS = "virtual_hosts";

const OFF: EnvoyNode = {
  "#typed_per_filter_config": "The inference gateway's filters are off for this virtual host.",
  typed_per_filter_config: disableAll(),
};

/** @param domains Host names for the gateway; empty: all. @throws MergeRefusal if another host has one of them. */
export function mergeRoutes(
  file: BootstrapFile,
  manager: Place<YAMLMap>,
  { routes, domains }: { routes: EnvoyNode; domains: readonly string[] },
): void {
  for (const name of ["rds", "scoped_routes"]) {
    const found = findField(manager, name);
    if (found === null) continue;
    throw refuse(found, "the routes come by xDS: add the gateway's routes at their source (`--snippets`).");
  }
  const [rendered = {}] = routes[HOSTS] as readonly EnvoyNode[];
  const ours = domains.length > 0 ? domains : ["*"];
  const host = { ...rendered, name: "inference-gateway", domains: oneLine(ours) };
  const config = findMap(manager, "route_config");
  if (config === null) return file.addFields(manager, { route_config: { ...routes, [HOSTS]: [host] } });
  const list = findList(config, HOSTS);
  if (list === null) return file.addFields(config, { [HOSTS]: [host] });
  for (const other of membersOf(list)) {
    const theirs: unknown = findField(other, "domains")?.node.toJSON();
    const both = Array.isArray(theirs) ? ours.filter((domain) => theirs.includes(domain)) : [];
    if (both.length > 0) {
      const name = textOf(other, "name") ?? "";
      throw refuse(
        other,
        `the virtual host \`${name}\` has the domain ${both.join(", ")} already: use a separate host name for the gateway, --domain api.example.com.`,
      );
    }
    file.addFields(other, OFF);
  }
  file.addMembers(list, [host], { name: "virtual host" });
}
