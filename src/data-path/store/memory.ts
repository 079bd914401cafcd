import { Cluster } from "ioredis";
import { storeOf } from "./run.ts";
import { type MemoryStore, type MemoryUse, shareOf } from "../../shared/stored/memory.ts";

export const createMemoryStore = storeOf<MemoryStore>({
  async readMemory({ client }) {
    const servers = client instanceof Cluster ? client.nodes("master") : [client];
    try {
      const all = await Promise.all(servers.map(async (server) => parseMemory(await server.info("memory"))));
      const known = all.filter((use) => use !== null);
      return known.toSorted((one, other) => shareOf(other) - shareOf(one))[0] ?? null;
    } catch (error) {
      // The Redis user may not run INFO.
      if (error instanceof Error && error.name === "ReplyError") return null;
      throw error;
    }
  },
});

export function parseMemory(info: string): MemoryUse | null {
  const read = (field: string): number =>
    Number(new RegExp(`^${field}:(\\d+)\r?$`, "m").exec(info)?.[1] ?? 0);
  const maxBytes = read("maxmemory") || read("total_system_memory");
  return maxBytes > 0 ? { usedBytes: read("used_memory"), maxBytes } : null;
}
