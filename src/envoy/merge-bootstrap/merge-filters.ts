/** Merges HTTP filters: missing ones are inserted before the router, in order; the operator's own stay in place. */
import type { YAMLMap } from "yaml";
import { type EnvoyNode, plain } from "../bootstrap/yaml-document.ts";
import { FILTERS } from "../check-bootstrap/filter-types.ts";
import {
  CONTENT_LENGTH_FILTER,
  GRPC_REPLY_FILTER,
  EDGE_METADATA_NAMESPACE,
  WORKER_CLUSTERS,
} from "../names.ts";
import { List, type Place, refuse } from "./bootstrap-file.ts";
import { isSame, type IsWrong, mergeFields } from "./merge-parts.ts";

interface Filter {
  readonly place: Place<YAMLMap>;
  readonly type: string;
  readonly value: unknown;
}

/** @throws MergeRefusal if a filter of the operator conflicts. */
export function mergeFilters(manager: Place<YAMLMap>, wanted: readonly EnvoyNode[], isWrong: IsWrong): void {
  const list = new List(manager, "http_filters");
  const filters = list.items.map((place): Filter => {
    const value: unknown = place.node.toJSON();
    return { place, value, type: typeOf(value) };
  });
  refuseOtherServices(filters);
  // A missing filter is inserted before the gateway's next filter, at the latest before the router.
  let next = filters.length;
  for (const filter of wanted.toReversed()) {
    const index = filters.findIndex((one) => isThis(one, filter));
    const found = filters[index];
    if (found === undefined) {
      list.insert(next, filter);
      continue;
    }
    next = index;
    if (isSame(found.place, filter)) continue;
    if (list.isMarked(index)) list.replace(index, filter);
    else mergeFields(found.place, filter, isWrong);
  }
}

/**
 * Refuses filters that call another service, or buffer bodies with another limit, since they cannot be in the
 * same chain.
 */
function refuseOtherServices(filters: readonly Filter[]): void {
  const placeOf = (wanted: string): number =>
    filters.findIndex(({ type, value }) => type.endsWith(wanted) && callsSidecar(value));
  const isComplete = placeOf(FILTERS.processing) !== -1;
  for (const [index, { place, type, value }] of filters.entries()) {
    const isAdmission = type.endsWith(FILTERS.admission);
    // A guardrail may follow the gateway's ext_authz, and an endpoint picker its ext_proc.
    const isEarly = type.endsWith(FILTERS.processing) && (!isComplete || index < placeOf(FILTERS.admission));
    if ((!isAdmission && !isEarly) || callsSidecar(value)) continue;
    const filterName = isAdmission ? "ext_authz" : "ext_proc";
    throw refuse(
      place,
      `this ${filterName} filter calls another service than the gateway: use a separate listener for the gateway (\`envoy render\`), or remove the filter.`,
    );
  }
}

function isThis({ type, value, place }: Filter, wanted: EnvoyNode): boolean {
  const wantedType = typeOf(plain(wanted));
  if (type !== wantedType) return false;
  if (type.endsWith(FILTERS.admission) || type.endsWith(FILTERS.processing)) return callsSidecar(value);
  if (type.endsWith(FILTERS.clientPath)) {
    return JSON.stringify(value).includes(`"${EDGE_METADATA_NAMESPACE}"`);
  }
  if (type.endsWith(FILTERS.buffer)) return isContentLength(value) === isContentLength(plain(wanted));
  if (type.endsWith(FILTERS.lua)) return (value as { name?: unknown }).name === GRPC_REPLY_FILTER;
  return type.endsWith(FILTERS.headerMutation) ? isSame(place, wanted) : true;
}

/** Returns whether it is our buffer filter; an operator's buffer filter only differs by name. */
function isContentLength(value: unknown): boolean {
  return (value as { name?: unknown }).name === CONTENT_LENGTH_FILTER;
}

function callsSidecar(value: unknown): boolean {
  return new RegExp(`"cluster_?[nN]ame":"(?:${WORKER_CLUSTERS.join("|")})"`).test(JSON.stringify(value));
}

function typeOf(value: unknown): string {
  const { typed_config: snake, typedConfig: camel } = value as Record<
    string,
    Record<string, unknown> | undefined
  >;
  const type = (snake ?? camel)?.["@type"];
  return typeof type === "string" ? type : "";
}
