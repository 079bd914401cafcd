import { setBounded } from "../../shared/collections/set-bounded.ts";
import type { RequestIdentity } from "../store/types/settlement.ts";

type TaggedRequest = Pick<RequestIdentity, "organizationId" | "month" | "tags">;

/** Some hundred bytes each. */
const MAX_ROWS = 10_000;

/**
 * Which rows of usage Redis has decided on: a combination of tags keeps its row for the month, so the first request that
 * has it asks with its hold, and the next ones know.
 */
export class TagRows {
  readonly #rows = new Map<string, string>();

  /** Undefined: not known here, or there are no tags. */
  of(request: TaggedRequest): string | undefined {
    return request.tags === undefined ? undefined : this.#rows.get(nameOf(request));
  }

  /** @param tagRow As the hold replied; undefined for a request without tags. */
  decided(request: TaggedRequest, tagRow: string | undefined): void {
    if (tagRow !== undefined) setBounded(this.#rows, nameOf(request), tagRow, MAX_ROWS);
  }
}

function nameOf({ organizationId, month, tags = "" }: TaggedRequest): string {
  return `${organizationId} ${month} ${tags}`;
}
