/**
 * Envoy's messages: their types, and their fields in the tables that decoders and encoders are compiled from.
 * src/operation/setup/messages.js generates both from `proto/`, before each build, check and test.
 */
import type { Messages } from "./generated.ts";
import { WIRE } from "./protobuf-reader.ts";

export type Message<Name extends keyof Messages> = Messages[Name];

/** Messages by name, with their fields by name. */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, Field>>>>;

export interface Field {
  readonly number: number;
  /** Scalar, names of an enum by number (null: not supported), or name of a message. */
  readonly kind: Scalar | readonly (string | null)[] | Capitalize<string>;
  /** Several values: a list, or a map from texts. */
  readonly many?: "list" | "map";
  /** Oneof that the field is a member of; at most one of them is set. */
  readonly oneof?: string;
}

const SCALAR_WIRES = {
  text: WIRE.bytes,
  bytes: WIRE.bytes,
  boolean: WIRE.varint,
  uint32: WIRE.varint,
  int64: WIRE.varint,
  double: WIRE.fixed64,
};

type Scalar = keyof typeof SCALAR_WIRES;

export function isScalar(kind: Field["kind"]): kind is Scalar {
  return typeof kind === "string" && kind in SCALAR_WIRES;
}

/** Returns number and wire type as they precede the value. */
export function tagOf({ number, kind, many }: Field): number {
  const byKind = typeof kind === "string" ? WIRE.bytes : WIRE.varint;
  return (number << 3) | (many === "map" ? WIRE.bytes : isScalar(kind) ? SCALAR_WIRES[kind] : byKind);
}
