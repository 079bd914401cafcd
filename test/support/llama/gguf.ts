/** Writes a model in the file format of llama.cpp: metadata, then tensors of 32-bit floats. */

export type MetadataValue =
  | { readonly uint32: number }
  | { readonly int32s: readonly number[] }
  | { readonly float32: number }
  | { readonly bool: boolean }
  | { readonly string: string }
  | { readonly strings: readonly string[] };

export interface Tensor {
  readonly name: string;
  /** The one that varies fastest first. */
  readonly dimensions: readonly number[];
  readonly values: Float32Array;
}

const MAGIC = Buffer.from("GGUF", "ascii");
const VERSION = 3;
const ALIGNMENT = 32;
const FLOAT32_TENSOR = 0;
/** Numbers of the types of metadata. */
const TYPES = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;

export function formatGguf(
  metadata: Readonly<Record<string, MetadataValue>>,
  tensors: readonly Tensor[],
): Buffer {
  const entries = Object.entries(metadata);
  const head = [
    MAGIC,
    uint32(VERSION),
    uint64(tensors.length),
    uint64(entries.length),
    ...entries.flatMap(([key, value]) => [text(key), formatValue(value)]),
  ];
  let offset = 0;
  const data: Buffer[] = [];
  for (const { name, dimensions, values } of tensors) {
    head.push(text(name), uint32(dimensions.length), ...dimensions.map(uint64));
    head.push(uint32(FLOAT32_TENSOR), uint64(offset));
    const bytes = pad(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
    data.push(bytes);
    offset += bytes.byteLength;
  }
  return Buffer.concat([pad(Buffer.concat(head)), ...data]);
}

function formatValue(value: MetadataValue): Buffer {
  if ("uint32" in value) return typed(TYPES.uint32, uint32(value.uint32));
  if ("float32" in value) return typed(TYPES.float32, float32(value.float32));
  if ("bool" in value) return typed(TYPES.bool, Buffer.from([value.bool ? 1 : 0]));
  if ("string" in value) return typed(TYPES.string, text(value.string));
  if ("strings" in value) return array(TYPES.string, value.strings.map(text));
  return array(TYPES.int32, value.int32s.map(uint32));
}

function array(type: number, items: readonly Buffer[]): Buffer {
  return typed(TYPES.array, Buffer.concat([uint32(type), uint64(items.length), ...items]));
}

function typed(type: number, bytes: Buffer): Buffer {
  return Buffer.concat([uint32(type), bytes]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([uint64(bytes.byteLength), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function pad(bytes: Buffer): Buffer {
  const missing = (ALIGNMENT - (bytes.byteLength % ALIGNMENT)) % ALIGNMENT;
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)]);
}
