import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

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
      createReducedTimeouts(),
      createHeapAction("envoy.overload_actions.shrink_heap", 0.9),
      {
        "#": "503 gateway_overloaded, before a filter has run.",
        ...createHeapAction("envoy.overload_actions.stop_accepting_requests", 0.95),
      },
    ],
  };
}

/**
 * An answer that was given out whole lies in Envoy until its client has read it, and nothing but an idle connection shows
 * of it. So idle connections are closed the sooner the more of the heap is used, long before anybody is refused: a client
 * that reads on loses nothing, since what it reads keeps its connection.
 */
function createReducedTimeouts(): EnvoyNode {
  return {
    "#": "What nobody reads goes before anybody is refused.",
    name: "envoy.overload_actions.reduce_timeouts",
    triggers: [
      oneLine({
        name: "envoy.resource_monitors.fixed_heap",
        scaled: { scaling_threshold: 0.3, saturation_threshold: 0.6 },
      }),
    ],
    typed_config: typed("envoy.config.overload.v3.ScaleTimersOverloadActionConfig", {
      timer_scale_factors: [
        oneLine({ timer: "HTTP_DOWNSTREAM_CONNECTION_IDLE", min_timeout: "1s" }),
        oneLine({ timer: "HTTP_DOWNSTREAM_STREAM_FLUSH", min_timeout: "1s" }),
      ],
    }),
  };
}

function createHeapAction(name: string, threshold: number): EnvoyNode {
  return {
    name,
    triggers: [oneLine({ name: "envoy.resource_monitors.fixed_heap", threshold: { value: threshold } })],
  };
}
