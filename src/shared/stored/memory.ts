export interface MemoryUse {
  readonly usedBytes: number;
  /** `maxmemory`, or the memory of Redis's host if it is not set. */
  readonly maxBytes: number;
}

export interface MemoryStore {
  /** In a cluster, reads the primary with the least free memory. Null: Redis does not report it or denies INFO. */
  readMemory(): Promise<MemoryUse | null>;
}

/** Above this share of the memory, only what requests need is stored. */
export const FULL_SHARE = 0.9;

export function shareOf({ usedBytes, maxBytes }: MemoryUse): number {
  return usedBytes / maxBytes;
}
