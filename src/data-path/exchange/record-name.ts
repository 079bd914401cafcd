import { scrubBeginning } from "../../shared/text/scrub.ts";

/** No name of a model is longer; what a client writes may be. */
const MAX_NAME_CHARACTERS = 128;

/** What a client wrote as its model, as logs, lists and the spool on disk keep it: it may be anything, its key too. */
export function recordName(requestedModel: string): string {
  return scrubBeginning(requestedModel, MAX_NAME_CHARACTERS);
}
