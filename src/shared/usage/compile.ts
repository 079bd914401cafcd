/**
 * Functions that are made of the table as text, once, when the program is loaded. They are for the path of each request
 * alone: a loop over the table, which asks for each property by a name that it does not know before, takes three times as
 * long as the same written out.
 */

/**
 * @param parameters The names of what it is given.
 * @param result An expression of JavaScript, of names of the table and of nothing that anybody sends.
 * @returns What the caller says the types of.
 */
export function compileExpression(
  parameters: readonly string[],
  result: string,
): (...given: never[]) => unknown {
  // oxlint-disable-next-line typescript/no-implied-eval -- The text is the table's own.
  return new Function(...parameters, `"use strict"; return ${result};`) as (...given: never[]) => unknown;
}
