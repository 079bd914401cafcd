import type { OwnerKind } from "../types/owner-kinds.ts";

/** The user or group that a key should belong to is not there, or was deleted: nothing was changed. */
export class MissingOwnerError extends Error {
  override readonly name = "MissingOwnerError";
  readonly kind: OwnerKind;

  constructor(kind: OwnerKind) {
    super(`unknown ${kind} in this organization`);
    this.kind = kind;
  }
}
