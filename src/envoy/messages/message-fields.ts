/** Fields of messages in a table. */
import { WIRE } from "./protobuf-reader.ts";

/** Scalar, names of an enum by number (null: not supported), or name of a message. */
export type Kind = Scalar | readonly (string | null)[] | Capitalize<string>;
/** `view`: bytes that the gateway sends, any view of them. */
type Scalar = "text" | "bytes" | "view" | "boolean" | "uint32" | "int64" | "double";

export interface Field {
  readonly number: number;
  readonly kind: Kind;
  /** Several values: a list, or a map from texts. */
  readonly many?: "list" | "map" | undefined;
  /** Oneof that the field is a member of; at most one of them is set. */
  readonly oneof?: string | undefined;
}

export type Messages = Readonly<Record<string, Readonly<Record<string, Field>>>>;

export function one<const Of extends Kind, const Oneof extends string | undefined = undefined>(
  number: number,
  kind: Of,
  oneof?: Oneof,
) {
  return { number, kind, many: undefined, oneof: oneof as Oneof };
}

export function list<const Of extends Kind>(number: number, kind: Of) {
  return { number, kind, many: "list" as const };
}

export function map<const Of extends Kind>(number: number, kind: Of) {
  return { number, kind, many: "map" as const };
}

const SCALAR_WIRES: Readonly<Record<Scalar, number>> = {
  text: WIRE.bytes,
  bytes: WIRE.bytes,
  view: WIRE.bytes,
  boolean: WIRE.varint,
  uint32: WIRE.varint,
  int64: WIRE.varint,
  double: WIRE.fixed64,
};

export function isScalar(kind: Kind): kind is Scalar {
  return typeof kind === "string" && kind in SCALAR_WIRES;
}

/** Returns number and wire type as they precede the value. */
export function tagOf({ number, kind, many }: Field): number {
  const byKind = typeof kind === "string" ? WIRE.bytes : WIRE.varint;
  return (number << 3) | (many === "map" ? WIRE.bytes : isScalar(kind) ? SCALAR_WIRES[kind] : byKind);
}
