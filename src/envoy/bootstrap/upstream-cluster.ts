/** Cluster of each upstream, with the upstream's name. */
import { hasSeveralServers } from "../../shared/config/affinity.ts";
import type { UpstreamConfig } from "../../shared/config/schema.ts";
import { createCircuitBreakers, createHttpOptions, SHARED_CONNECTION } from "./cluster-parts.ts";
import { formatSeconds } from "./render-options.ts";
import {
  createBalancing,
  createDiscovery,
  createHealth,
  createLoadAssignment,
  createRetryPolicy,
} from "./upstream-balancing.ts";
import { createUpstreamFilters } from "./upstream-filters.ts";
import type { CredentialFile } from "./upstream-secrets.ts";
import { type AuthorityPlaces, createUpstreamTls } from "./upstream-tls.ts";
import { type EnvoyNode, oneLine } from "./yaml-document.ts";

/** Further inputs of an upstream's cluster, besides its settings. */
export interface UpstreamFiles extends AuthorityPlaces {
  readonly credentials: readonly CredentialFile[];
  /** True if the upstream or one of its models is configured to speak messages. */
  readonly speaksMessages: boolean;
  /** True if at least one of the upstream's models keeps sessions on a server. */
  readonly pinsSessions: boolean;
}

const MAX_IN_FLIGHT = 100_000;

export function createUpstreamCluster(upstream: UpstreamConfig, files: UpstreamFiles): EnvoyNode {
  const usesTls = upstream.endpoints.some((endpoint) => endpoint.usesTls);
  const canRetry = hasSeveralServers(upstream);
  return {
    name: upstream.name,
    ...createDiscovery(upstream.endpoints),
    connect_timeout: formatSeconds(upstream.connectTimeoutSeconds),
    ...createBalancing(upstream, files.pinsSessions),
    circuit_breakers: createCircuitBreakers(MAX_IN_FLIGHT, canRetry ? MAX_IN_FLIGHT : 0),
    ...createHealth(upstream),
    typed_extension_protocol_options: createProtocolOptions(
      createUpstreamFilters(upstream, files.credentials, files.speaksMessages),
      { usesTls, canRetry, reusesConnections: upstream.connectionReuse },
    ),
    ...(usesTls ? { transport_socket: createUpstreamTls(upstream, files) } : {}),
    load_assignment: createLoadAssignment(upstream),
  };
}

interface ConnectionTerms {
  readonly usesTls: boolean;
  readonly canRetry: boolean;
  readonly reusesConnections: boolean;
}

function createProtocolOptions(
  filters: readonly EnvoyNode[],
  { usesTls, canRetry, reusesConnections }: ConnectionTerms,
): EnvoyNode {
  const http1 = { http_protocol_options: oneLine({}) };
  return createHttpOptions({
    "#common_http_protocol_options":
      "Shorter than the keep-alive of common model servers (5 s): a connection that the server is about to close " +
      "is not used again, and nothing is ever sent twice.",
    common_http_protocol_options: {
      idle_timeout: "4s",
      ...(reusesConnections ? {} : { max_requests_per_connection: 1 }),
    },
    ...(usesTls
      ? { auto_config: { ...http1, http2_protocol_options: SHARED_CONNECTION } }
      : { explicit_http_config: http1 }),
    ...(canRetry ? { retry_policy: createRetryPolicy() } : {}),
    http_filters: filters,
  });
}
