/**
 * Workers' side of mutual TLS with Envoy (`sidecar.tls`). Clients without a certificate of the authorities,
 * or without the required name, are not accepted. New connections use renewed files without a restart; if the
 * files do not match, as between two renames, the old ones stay in force.
 */
import { readFileSync } from "node:fs";
import { checkServerIdentity, type SecureContextOptions, type Server, type TLSSocket } from "node:tls";
import { watchFiles } from "../../shared/config/reload/watch-files.ts";

/** Paths of PEM files. */
export interface SidecarTlsOptions {
  readonly caFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  /** Name that Envoy's certificate must have; null accepts any certificate of the authorities. */
  readonly clientName: string | null;
}

/** Current contents of the three files. */
export interface SidecarCertificates {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws Error if a file cannot be read. */
export function readSidecarCertificates(tls: SidecarTlsOptions): SidecarCertificates {
  const { caFile, serverCertFile, serverKeyFile } = tls;
  return {
    ca: readFileSync(caFile),
    cert: readFileSync(serverCertFile),
    key: readFileSync(serverKeyFile),
  };
}

/** Passes renewed files to a server, until it closes. */
export function renewSidecarCertificates(
  server: Pick<Server, "once"> & { setSecureContext(options: SecureContextOptions): void },
  tls: SidecarTlsOptions,
  onProblem: (error: unknown) => void,
): void {
  const { caFile, serverCertFile, serverKeyFile } = tls;
  const watcher = watchFiles([caFile, serverCertFile, serverKeyFile], () => {
    try {
      server.setSecureContext(readSidecarCertificates(tls));
    } catch (error) {
      onProblem(error);
    }
  });
  server.once("close", () => watcher.close());
}

/** Returns whether a connection's client certificate has the required name, if one is required. */
export function isNamedClient(socket: TLSSocket, clientName: string | null): boolean {
  return clientName === null || checkServerIdentity(clientName, socket.getPeerCertificate()) === undefined;
}
