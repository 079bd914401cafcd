import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../src/management/alerts/public-address.ts";

describe("isPublicAddress", () => {
  it.each([
    ["loopback", "127.0.0.1"],
    ["all of loopback", "127.255.255.254"],
    ["this host", "0.0.0.0"],
    ["this network", "0.1.2.3"],
    ["private, class A", "10.0.0.1"],
    ["private, class B", "172.16.0.1"],
    ["private, the end of class B", "172.31.255.255"],
    ["private, class C", "192.168.1.1"],
    ["link-local, cloud metadata", "169.254.169.254"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["carrier-grade NAT, metadata of a cloud", "100.100.100.200"],
    ["a cloud's host agent", "168.63.129.16"],
    ["metadata of another cloud", "192.0.0.192"],
    ["benchmarks", "198.18.0.1"],
    ["documentation", "203.0.113.7"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback of IPv6", "::1"],
    ["link-local of IPv6", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["unique local", "fd00:ec2::254"],
    ["site-local", "fec0::1"],
    ["IPv4-mapped loopback", "::ffff:127.0.0.1"],
    ["IPv4-mapped loopback in hexadecimal", "::ffff:7f00:1"],
    ["IPv4-mapped this host", "::ffff:0.0.0.0"],
    ["IPv4-mapped metadata", "0:0:0:0:0:ffff:a9fe:a9fe"],
    ["IPv4-compatible loopback", "::127.0.0.1"],
    ["NAT64 to metadata", "64:ff9b::a9fe:a9fe"],
    ["NAT64 to a private network", "64:ff9b::10.0.0.1"],
    ["NAT64 of local use", "64:ff9b:1::1"],
    ["6to4 of loopback", "2002:7f00:1::"],
    ["Teredo", "2001:0:7f00:1::1"],
    ["documentation of IPv6", "2001:db8::1"],
    ["multicast of IPv6", "ff02::1"],
    ["no address", "example.com"],
    ["nothing", ""],
  ])("is false for %s, %s", (_name, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "192.169.0.1",
    "2606:4700:4700::1111",
    "2a00:1450::1",
  ])("is true for %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"])(
    "is true for %s, which leads to a public one",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});
