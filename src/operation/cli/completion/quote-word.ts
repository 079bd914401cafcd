/** One word of a POSIX shell; zsh reads it alike. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
