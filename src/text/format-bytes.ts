const UNITS = [
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
] as const;

/** "256 MiB", "1,001 bytes": in the largest unit that leaves a whole number, for messages. */
export function formatBytes(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes >= size && bytes % size === 0);
  if (unit !== undefined) return `${bytes / unit[1]} ${unit[0]}`;
  return `${bytes.toLocaleString("en-US")} ${bytes === 1 ? "byte" : "bytes"}`;
}
