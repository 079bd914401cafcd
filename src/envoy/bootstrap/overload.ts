import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

const MAX_CONNECTIONS = 50_000;

/** Returns the `overload_manager`: bounds of the memory that all clients together can occupy in Envoy. */
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
 * Shortens the idle timeout as the heap fills up. A complete response stays in Envoy until its client has
 * read it, and is only noticeable as an idle connection. So idle connections are closed earlier, long before
 * requests are rejected: a client that keeps reading loses nothing, since reading keeps its connection
 * active.
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
