import { createServer } from "node:net";
import { LaunchError } from "./launch-error.ts";

/** Address to listen on, and its field of the configuration. */
export interface WantedAddress {
  readonly field: string;
  readonly host: string;
  /** Port; 0 is always free. */
  readonly port: number;
}

/**
 * Checks that all addresses are free before anything is started.
 * @throws LaunchError naming the first address in use, the reason, and the field to change.
 */
export async function requireFree(addresses: readonly WantedAddress[]): Promise<void> {
  for (const { field, host, port } of addresses) {
    const code = await tryListen(host, port);
    if (code !== null) throw new LaunchError(describe(field, host, port, code));
  }
}

/** Returns whether the address is free now. */
export async function isFree(host: string, port: number): Promise<boolean> {
  return (await tryListen(host, port)) === null;
}

export function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Returns null if listening works, otherwise the system's error code. */
function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

function describe(field: string, host: string, port: number, code: string): string {
  const name = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const base = field.split(".")[0] ?? field;
  if (code === "EADDRINUSE") {
    return `Port ${port} is in use (${name}, \`${field}\`): stop what listens there, or set another \`${field}\`.`;
  }
  if (code === "EACCES") {
    return `This user can't listen on port ${port} (${name}): set \`${field}\` to 1024 or above.`;
  }
  return `The gateway can't listen on ${name} (${code}): correct \`${base}.host\` or \`${field}\`.`;
}
