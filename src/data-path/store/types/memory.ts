/** What Redis has of memory. */
export interface MemoryUse {
  readonly usedBytes: number;
  /** `maxmemory`; without one, the memory of Redis's host. */
  readonly maxBytes: number;
}

export interface MemoryStore {
  /** In a cluster, of the primary with the least room left. Null: Redis does not say, or may not be asked. */
  readMemory(): Promise<MemoryUse | null>;
}

/** From here on nothing new is stored but what requests need. */
export const FULL_SHARE = 0.9;

export function shareOf({ usedBytes, maxBytes }: MemoryUse): number {
  return usedBytes / maxBytes;
}
