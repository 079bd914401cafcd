/** Resolution of webhook hosts. */
import { lookup, Resolver } from "node:dns/promises";

export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * Uses only DNS, like other hosts on the internet: no hosts file, no search domains. Also keeps names of dead
 * zones out of Node's few threads, which `getaddrinfo` would block for all others.
 */
export const resolvePublicHost: ResolveHost = async (hostname) => {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [ipv4, ipv6].flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  if (found.length === 0 && ipv4.status === "rejected") throw ipv4.reason;
  return found;
};

/** Resolves as other programs on this host do. */
export const resolveLocalHost: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};
