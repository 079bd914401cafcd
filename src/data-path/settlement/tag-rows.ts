import { setBounded } from "../../shared/collections/set-bounded.ts";
import type { RequestIdentity } from "../../shared/stored/settlement.ts";

type TaggedRequest = Pick<RequestIdentity, "organizationId" | "month" | "tags">;

/** About a hundred bytes each. */
const MAX_ROWS = 10_000;

/**
 * Cache of usage rows that Redis has assigned: a tag combination keeps its row for the month, so only the
 * first request with it needs a record to learn the row.
 */
export class TagRows {
  readonly #rows = new Map<string, string>();

  /** Returns the row; undefined: not known here, or no tags. */
  of(request: TaggedRequest): string | undefined {
    return request.tags === undefined ? undefined : this.#rows.get(nameOf(request));
  }

  /** @param tagRow From the reply to `openRecord`; undefined for a request without tags. */
  decided(request: TaggedRequest, tagRow: string | undefined): void {
    if (tagRow !== undefined) setBounded(this.#rows, nameOf(request), tagRow, MAX_ROWS);
  }
}

function nameOf({ organizationId, month, tags = "" }: TaggedRequest): string {
  return `${organizationId} ${month} ${tags}`;
}
