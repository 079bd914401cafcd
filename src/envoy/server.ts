/**
 * The gRPC server that Envoy calls, whatever carries it: `wire` (the default, HTTP/2 and gRPC framing by hand on
 * node:net) or `grpc-js` (the library).
 *
 * It carries messages and decides nothing about them. What it must never do: end an ext_proc call with OK while a
 * reply is owed, since Envoy then lets the request pass unprocessed, `failure_mode_allow: false` or not. Such a call
 * ends with an error status, or with its connection, and Envoy refuses the request.
 *
 * Envoy gone: each open call gets `onEnd` once. Redis gone: nothing changes here; `isServing` is the handlers' word.
 */
import { WireServer } from "./transport/wire/server.ts";
import type { EnvoyServer, EnvoyServerOptions } from "./transport/contract.ts";

/** Creates a server, which listens after `listen()`. grpc-js is loaded only if it is chosen. */
export async function createEnvoyServer(options: EnvoyServerOptions): Promise<EnvoyServer> {
  if (options.transport === "wire") return new WireServer(options);
  const { createGrpcJsServer } = await import("./transport/grpc-js/server.ts");
  return createGrpcJsServer(options);
}

/** "unix:/run/gateway-0.sock" or "127.0.0.1:9000". */
export function parseAddress(address: string): { socketPath: string } | { host: string; port: number } {
  if (address.startsWith("unix:")) return { socketPath: address.slice("unix:".length) };
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
