/**
 * IP addresses that a webhook may connect to: those of the public internet. Customers choose the URL and the
 * request leaves from the operator's network, so addresses that are only reachable from there are rejected:
 * private, loopback, link-local (cloud metadata), carrier-grade NAT, and other notations of these.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry
 */
import { BlockList, isIP } from "node:net";

const RESERVED_IPV4 = [
  "0.0.0.0/8", // this network; many systems connect to themselves
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT; also metadata of one cloud
  "127.0.0.0/8",
  "168.63.129.16/32", // public, but the host agent inside of one cloud
  "169.254.0.0/16", // link-local: metadata of most clouds
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
];
/** Reserved ranges inside of 2000::/3, which contains the public internet. */
const RESERVED_IPV6 = [
  "2001::/23", // protocol assignments, Teredo
  "2001:db8::/32",
  "2002::/16", // 6to4: any IPv4 address
  "3fff::/20",
];

const reserved = new BlockList();
for (const subnet of RESERVED_IPV4) add(reserved, subnet, "ipv4");
for (const subnet of RESERVED_IPV6) add(reserved, subnet, "ipv6");
const globalUnicast = new BlockList();
add(globalUnicast, "2000::/3", "ipv6");
/** Networks whose last 32 bits are an IPv4 address, to which their gateway connects. */
const embedding = new BlockList();
add(embedding, "::ffff:0:0/96", "ipv6"); // IPv4-mapped
add(embedding, "64:ff9b::/96", "ipv6"); // NAT64

/** Returns whether an IP address (without brackets) is public. False for anything else. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address, "ipv4");
  // A zone ("fe80::1%eth0") only makes sense for link-local addresses.
  if (family !== 6 || address.includes("%")) return false;
  if (isEmbedding(address)) return isPublicAddress(embeddedIpv4(address));
  return globalUnicast.check(address, "ipv6") && !reserved.check(address, "ipv6");
}

function isEmbedding(address: string): boolean {
  return embedding.check(address, "ipv6");
}

/** Converts "::ffff:7f00:1" to "127.0.0.1". */
function embeddedIpv4(address: string): string {
  // The URL parser normalizes IPv6 addresses, with the last 32 bits as two groups.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const groups = canonical.split(":").slice(-2);
  const [high = 0, low = 0] = groups.map((group) => (group === "" ? 0 : Number.parseInt(group, 16)));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

function add(list: BlockList, subnet: string, family: "ipv4" | "ipv6"): void {
  const [network = "", prefix = ""] = subnet.split("/");
  list.addSubnet(network, Number(prefix), family);
}
