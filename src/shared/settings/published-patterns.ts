/**
 * Forms of texts as the OpenAPI document publishes them, where what checks them says it in words that only JavaScript
 * has (lookaheads, `\p{…}`). Programs that read the document compile its patterns with what they have, Python's `re` and
 * Go's RE2 among it, so these keep to what all of them read in the same way. A pattern may let a text pass that the check
 * then refuses, and refuses none that the check takes.
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-6.4
 */

const CONTROL = String.raw`\x00-\x1f\x7f-\x9f`;
/** Unicode's own breaks of a line and of a paragraph, as themselves: escapes for them differ. */
const BREAKS = "\u2028\u2029";

/** Without control characters; not of blanks alone. */
export const TEXT_PATTERN = `^[^${CONTROL}]*[^ ${CONTROL}][^${CONTROL}]*$`;

/** The same without breaks of any kind. */
export const NAME_PATTERN = `^[^${CONTROL}${BREAKS}]*[^ ${CONTROL}${BREAKS}][^${CONTROL}${BREAKS}]*$`;

/** Without control characters and breaks; it may be blanks. */
export const LINE_PATTERN = `^[^${CONTROL}${BREAKS}]+$`;
