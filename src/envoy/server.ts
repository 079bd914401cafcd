/**
 * gRPC server that Envoy calls, on either transport: `wire` (the default, HTTP/2 and gRPC framing by hand on
 * node:net) or `grpc-js` (the library).
 * Carries messages without deciding anything. It must never end an ext_proc call with OK while a reply is
 * outstanding, since Envoy would then let the request pass unprocessed, even with `failure_mode_allow:
 * false`. Such a call ends with an error status, or with its connection, and Envoy rejects the request.
 * When Envoy disconnects, each open call gets `onEnd` once. An outage of Redis changes nothing here; the
 * handlers report it by `isServing`.
 */
import { WireServer } from "./transport/wire/server.ts";
import type { EnvoyServer, EnvoyServerOptions } from "./transport/contract.ts";

/** Creates a server, which listens after `listen()`. grpc-js is loaded only if it is chosen. */
export async function createEnvoyServer(options: EnvoyServerOptions): Promise<EnvoyServer> {
  if (options.transport === "wire") return new WireServer(options);
  const { createGrpcJsServer } = await import("./transport/grpc-js/server.ts");
  return createGrpcJsServer(options);
}

/** Parses "unix:/run/gateway-0.sock" or "127.0.0.1:9000". */
export function parseAddress(address: string): { socketPath: string } | { host: string; port: number } {
  if (address.startsWith("unix:")) return { socketPath: address.slice("unix:".length) };
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
