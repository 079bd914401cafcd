import { describe, expect, it } from "vitest";
import { isUnreachable } from "../../../src/data-path/grace/unreachable.ts";

function reply(message: string): Error {
  return Object.assign(new Error(message), { name: "ReplyError" });
}

describe("isUnreachable", () => {
  it.each([
    ["no answer in time", new Error("Command timed out")],
    ["a lost connection", new Error("Connection is closed.")],
    ["no connection", new Error("Stream isn't writeable and enableOfflineQueue options is false")],
    ["a cluster without nodes", new Error("Failed to refresh slots cache.")],
    ["a read-only replica", reply("READONLY You can't write against a read only replica.")],
    ["no memory", reply("OOM command not allowed when used memory > 'maxmemory'.")],
    ["a server that still loads", reply("LOADING Redis is loading the dataset in memory")],
    ["a full disk", reply("MISCONF Errors writing to the AOF file")],
    ["too few replicas", reply("NOREPLICAS Not enough good replicas to write.")],
    ["a slot without a master", reply("CLUSTERDOWN The cluster is down")],
  ])("is true for %s", (_name, error) => {
    expect(isUnreachable(error)).toBe(true);
  });

  it.each([
    ["a script's own error", reply("ERR user_script:1: attempt to index nil")],
    ["a contradiction", reply("MISMATCH the record of this request says another key")],
    ["a wrong password", reply("WRONGPASS invalid username-password pair")],
    ["a reply that makes no sense", new TypeError("a script replied number, not an array")],
    ["an amount that is none", new RangeError("-1 microcents")],
    ["something that is no error", "text"],
  ])("is false for %s", (_name, error) => {
    expect(isUnreachable(error)).toBe(false);
  });
});
