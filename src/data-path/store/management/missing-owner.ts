import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";

/** Thrown if the user or group of a key does not exist or was deleted: nothing was changed. */
export class MissingOwnerError extends Error {
  override readonly name = "MissingOwnerError";
  readonly kind: OwnerKind;

  constructor(kind: OwnerKind) {
    super(`unknown ${kind} in this organization`);
    this.kind = kind;
  }
}
