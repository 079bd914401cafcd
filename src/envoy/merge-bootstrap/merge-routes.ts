/**
 * Merges routes: the gateway's form a separate virtual host. The operator's services keep their routes, with
 * the gateway's filters disabled.
 */
import { disableAll } from "../bootstrap/routes.ts";
import type { YAMLMap } from "yaml";
import { type EnvoyNode, oneLine } from "../bootstrap/yaml-document.ts";
import { UPSTREAM_HEADER } from "../names.ts";
import { findField, findMap, List, type Place, refuse, setField, textOf } from "./bootstrap-file.ts";
import { isSame, type IsWrong, mergeFields } from "./merge-parts.ts";

const HOSTS = "virtual_hosts";
const HOST_NAME = "inference-gateway";

const OFF: EnvoyNode = {
  "#typed_per_filter_config": "The inference gateway's filters are off for this virtual host.",
  typed_per_filter_config: disableAll(),
};

/** @param domains Host names for the gateway; empty: all, or those that its virtual host already has. */
export function mergeRoutes(
  manager: Place<YAMLMap>,
  { routes, domains }: { routes: EnvoyNode; domains: readonly string[] },
  isWrong: IsWrong,
): void {
  for (const name of ["rds", "scoped_routes"]) {
    const found = findField(manager, name);
    if (found === null) continue;
    throw refuse(found, "the routes come by xDS: add the gateway's routes at their source (`--snippets`).");
  }
  const [rendered = {}] = routes[HOSTS] as readonly EnvoyNode[];
  const config = findMap(manager, "route_config");
  if (config === null) {
    const hosts = [nameHost(rendered, domains.length > 0 ? domains : ["*"])];
    return setField(manager, { route_config: { ...routes, [HOSTS]: hosts } }, "route_config");
  }
  const list = new List(config, HOSTS);
  const index = list.items.findIndex(({ node }) =>
    JSON.stringify(node.toJSON()).includes(`"${UPSTREAM_HEADER}"`),
  );
  const own = list.items[index];
  const host = nameHost(rendered, chooseDomains(own, domains));
  for (const other of list.items) if (other !== own) disableGateway(other, host, isWrong);
  if (own === undefined) list.insert(Infinity, host);
  else if (!isSame(own, host) && list.isMarked(index)) list.replace(index, host);
}

function nameHost(rendered: EnvoyNode, domains: readonly string[]): EnvoyNode {
  return { ...rendered, name: HOST_NAME, domains: oneLine(domains) };
}

function chooseDomains(own: Place<YAMLMap> | undefined, wanted: readonly string[]): readonly string[] {
  if (wanted.length > 0) return wanted;
  const domains = own === undefined ? null : (findField(own, "domains")?.node.toJSON() as unknown);
  return Array.isArray(domains) && domains.length > 0 ? (domains as string[]) : ["*"];
}

/** @throws MergeRefusal if it matches the same host names. */
function disableGateway(other: Place<YAMLMap>, host: EnvoyNode, isWrong: IsWrong): void {
  const theirs = (findField(other, "domains")?.node.toJSON() as unknown) ?? [];
  const ours = (host["domains"] as { value: readonly string[] }).value;
  const both = Array.isArray(theirs) ? ours.filter((domain) => theirs.includes(domain)) : [];
  if (both.length > 0) {
    const name = textOf(other, "name") ?? "";
    throw refuse(
      other,
      `the virtual host \`${name}\` has the domain ${both.join(", ")} already: use a separate host name for the gateway, --domain api.example.com.`,
    );
  }
  mergeFields(other, OFF, isWrong);
}
