/**
 * Merges routes: the gateway's form a separate virtual host. The operator's services keep their routes, with
 * the gateway's filters disabled.
 */
import { disableAll } from "../bootstrap/routes.ts";
import type { YAMLMap } from "yaml";
import { type EnvoyNode, oneLine } from "../bootstrap/yaml-document.ts";
import { UPSTREAM_HEADER } from "../names.ts";
import { pathOf, textOf } from "./find-edge.ts";
import { formatField, formatItem } from "./format-part.ts";
import { isSame, mergeFields, type Merging } from "./merge-fields.ts";
import { refuse } from "./merge-refusal.ts";
import type { Place } from "./yaml-text.ts";

const HOSTS = "virtual_hosts";
const HOST_NAME = "inference-gateway";

const OFF: EnvoyNode = {
  "#typed_per_filter_config": "The inference gateway's filters are off for this virtual host.",
  typed_per_filter_config: disableAll(),
};

/** @param domains Host names for the gateway; empty: all, or those that its virtual host already has. */
export function mergeRoutes(
  merging: Merging,
  manager: Place<YAMLMap>,
  { routes, domains }: { routes: EnvoyNode; domains: readonly string[] },
): void {
  const { yaml } = merging;
  for (const name of ["rds", "scoped_routes"]) {
    const found = yaml.field(manager, name);
    if (found !== null) {
      throw refuse(
        pathOf(found),
        "the routes come by xDS: add the gateway's routes at their source (`--snippets`).",
      );
    }
  }
  const [rendered = {}] = routes[HOSTS] as readonly EnvoyNode[];
  const config = yaml.map(manager, "route_config");
  const hosts = config === null ? [] : yaml.items(config, HOSTS);
  const ownIndex = hosts.findIndex((host) =>
    JSON.stringify(host.node.toJSON()).includes(`"${UPSTREAM_HEADER}"`),
  );
  const own = hosts[ownIndex];
  const host = nameHost(rendered, chooseDomains(merging, own, domains));
  if (config === null || hosts.length === 0) {
    const fields = { ...routes, [HOSTS]: [host] };
    if (config === null) {
      yaml.replaceField(manager, "route_config", formatField({ route_config: fields }, "route_config"));
    } else yaml.replaceField(config, HOSTS, formatField(fields, HOSTS));
    return;
  }
  for (const [index, other] of hosts.entries()) if (index !== ownIndex) keepApart(merging, other, host);
  if (own === undefined) yaml.insertItem(config, HOSTS, hosts.length, formatItem(host));
  else if (!isSame(own.node, host) && yaml.isItemMarked(config, HOSTS, ownIndex)) {
    yaml.replaceItem(config, HOSTS, ownIndex, formatItem(host));
  }
}

function nameHost(rendered: EnvoyNode, domains: readonly string[]): EnvoyNode {
  return { ...rendered, name: HOST_NAME, domains: oneLine(domains) };
}

function chooseDomains(
  { yaml }: Merging,
  own: Place<YAMLMap> | undefined,
  wanted: readonly string[],
): readonly string[] {
  if (wanted.length > 0) return wanted;
  const domains = own === undefined ? null : (yaml.field(own, "domains")?.node.toJSON() as unknown);
  return Array.isArray(domains) && domains.length > 0 ? (domains as string[]) : ["*"];
}

/** @throws MergeRefusal if it matches the same host names. */
function keepApart(merging: Merging, other: Place<YAMLMap>, host: EnvoyNode): void {
  const { yaml } = merging;
  const theirs = (yaml.field(other, "domains")?.node.toJSON() as unknown) ?? [];
  const ours = (host["domains"] as { value: readonly string[] }).value;
  const both = Array.isArray(theirs) ? ours.filter((domain) => theirs.includes(domain)) : [];
  if (both.length > 0) {
    const name = textOf(yaml, other, "name") ?? "";
    throw refuse(
      pathOf(other),
      `the virtual host \`${name}\` has the domain ${both.join(", ")} already: use a separate host name for the gateway, --domain api.example.com.`,
    );
  }
  mergeFields(merging, other, OFF);
}
