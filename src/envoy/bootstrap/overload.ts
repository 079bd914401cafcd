import { oneLine, typed } from "./yaml-document.ts";
import type { EnvoyNode } from "./yaml-document.ts";

const MAX_CONNECTIONS = 50_000;

/** `overload_manager`: bounds of what clients together can make Envoy hold. */
export function createOverloadManager(maxHeapBytes: number): EnvoyNode {
  return {
    refresh_interval: "0.25s",
    resource_monitors: [
      {
        name: "envoy.resource_monitors.fixed_heap",
        typed_config: typed("envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig", {
          max_heap_size_bytes: maxHeapBytes,
        }),
      },
      {
        name: "envoy.resource_monitors.global_downstream_max_connections",
        typed_config: typed(
          "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
          { max_active_downstream_connections: MAX_CONNECTIONS },
        ),
      },
    ],
    actions: [
      createHeapAction("envoy.overload_actions.shrink_heap", 0.9),
      {
        "#": "503 gateway_overloaded, before a filter has run.",
        ...createHeapAction("envoy.overload_actions.stop_accepting_requests", 0.95),
      },
    ],
  };
}

function createHeapAction(name: string, threshold: number): EnvoyNode {
  return {
    name,
    triggers: [oneLine({ name: "envoy.resource_monitors.fixed_heap", threshold: { value: threshold } })],
  };
}
