/**
 * Patterns of texts in the OpenAPI document, for checks that use features of JavaScript only (lookaheads,
 * `\p{…}`). Readers of the document compile its patterns with other engines, such as Python's `re` and Go's
 * RE2, so these only use syntax that all engines read the same way. A pattern may accept a text that the
 * check rejects, but never the reverse.
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-6.4
 */

const CONTROL = String.raw`\x00-\x1f\x7f-\x9f`;
/** Unicode's line and paragraph breaks as literal characters, since escapes for them differ. */
const BREAKS = "\u2028\u2029";

/** Without control characters; not only spaces. */
export const TEXT_PATTERN = `^[^${CONTROL}]*[^ ${CONTROL}][^${CONTROL}]*$`;

/** Pattern of a name: one line, and at least one visible character. */
export const NAME_PATTERN = `^[^${CONTROL}${BREAKS}]*[^ ${CONTROL}${BREAKS}][^${CONTROL}${BREAKS}]*$`;

/** Without control characters and breaks; may be only spaces. */
export const LINE_PATTERN = `^[^${CONTROL}${BREAKS}]+$`;
