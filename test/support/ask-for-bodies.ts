import { CONTENT_LENGTH_FILTER, PROCESSING_FILTER } from "../../src/envoy/names.ts";
import type { EditableBootstrap } from "./side-envoy.ts";

interface Route {
  typed_per_filter_config?: Record<string, unknown>;
}

/** Bodies come for the asking, as ext_proc servers usually have them, and no filter has to write the length of one anew. */
export function askForBodies({ manager }: EditableBootstrap): void {
  const { virtual_hosts: hosts } = manager["route_config"] as { virtual_hosts: { routes: Route[] }[] };
  const last = hosts.at(-1)?.routes.at(-1);
  if (last?.typed_per_filter_config?.[PROCESSING_FILTER] === undefined) {
    throw new Error("the last route has no mode of ext_proc of its own");
  }
  Reflect.deleteProperty(last.typed_per_filter_config, PROCESSING_FILTER);
  const filters = manager["http_filters"] as { name: string }[];
  manager["http_filters"] = filters.filter(({ name }) => name !== CONTENT_LENGTH_FILTER);
}
