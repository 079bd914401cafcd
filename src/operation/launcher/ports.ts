import { createServer } from "node:net";
import { LaunchError } from "./launch-error.ts";

/** An address that the stack is about to listen on, and the field of the configuration that says so. */
export interface WantedAddress {
  readonly field: string;
  readonly host: string;
  /** 0 is always free. */
  readonly port: number;
}

/**
 * Checks that every address can be listened on, before anything is started.
 * @throws LaunchError naming the first that cannot, why, and the field to change.
 */
export async function requireFree(addresses: readonly WantedAddress[]): Promise<void> {
  for (const { field, host, port } of addresses) {
    const code = await tryListen(host, port);
    if (code !== null) throw new LaunchError(describe(field, host, port, code));
  }
}

/** Whether it can be listened on now. */
export async function isFree(host: string, port: number): Promise<boolean> {
  return (await tryListen(host, port)) === null;
}

/** A port that is free on this host now. */
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

/** Null when it can be listened on, else the system's error code. */
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
    return `This user may not listen on port ${port} (${name}): set \`${field}\` to 1024 or above.`;
  }
  return `${name} cannot be listened on (${code}): correct \`${base}.host\` or \`${field}\`.`;
}
