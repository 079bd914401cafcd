/** Model aliases, in the catalog and in an organization's settings. */
import * as z from "zod";

const MAX_NAME_CHARACTERS = 128;
/** Only ASCII, so that names that look the same are the same. */
const NAME_FORM = /^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}$/;

/** Allowed names, for people. */
export const NAME_VALUES = `1 to ${MAX_NAME_CHARACTERS} letters, digits and \`. _ : @ / + -\``;

export function modelName(): z.ZodType<string> {
  const error = `expected a name of ${NAME_VALUES}, the first a letter or digit`;
  return z.string({ error }).regex(NAME_FORM, { error });
}
