import { scrubBeginning } from "../../shared/text/scrub.ts";

/** The longest name of a model; clients may send longer ones. */
const MAX_NAME_CHARACTERS = 128;

/**
 * Sanitizes the model name that a client sent, for logs, lists and the spool on disk. It may contain anything, even
 * the API key.
 */
export function sanitizeModelName(requestedModel: string): string {
  return scrubBeginning(requestedModel, MAX_NAME_CHARACTERS);
}
