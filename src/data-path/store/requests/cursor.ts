/** Places in the streams of recent requests, as lists of them have for their next page. */

/** Two places in two streams, or the end of one: see `listRequests`. */
export const REQUEST_CURSOR = /^(?:[0-9]{1,20}-[0-9]{1,20}|-)_(?:[0-9]{1,20}-[0-9]{1,20}|-)$/;

const LARGEST_ID_PART = 2n ** 64n - 1n;

/**
 * Returns whether every part can be the id of an entry in a Redis stream ("-" for the end of one is skipped):
 * Redis rejects others.
 * @see https://redis.io/docs/latest/develop/data-types/streams/#entry-ids
 */
export function isInStreams(cursor: string): boolean {
  return cursor
    .split("_")
    .filter((place) => place !== "-")
    .every((place) => {
      // The form is checked elsewhere; both problems are reported together.
      if (!/^\d+-\d+$/.test(place)) return false;
      const [time = 0n, sequence = 0n] = place.split("-").map((part) => BigInt(part));
      return time <= LARGEST_ID_PART && sequence <= LARGEST_ID_PART && (time > 0n || sequence > 0n);
    });
}

export function isRequestCursor(text: string): boolean {
  return REQUEST_CURSOR.test(text) && isInStreams(text);
}
