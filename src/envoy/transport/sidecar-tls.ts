/**
 * The workers' side of mutual TLS with Envoy (`sidecar.tls`). A client without a certificate of the authorities, or
 * without the name that is demanded, gets no connection. Renewed files count for new connections without a restart;
 * files that do not fit each other, as between two renames, leave the old ones in force.
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

/** The three files as they are now. */
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

/** Gives a server the renewed files, until it closes. */
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
