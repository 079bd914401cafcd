/** A CSV text (RFC 4180) as its header and rows by name. Throws where a line has another number of cells than the header. */
export function parseCsv(text: string): { columns: string[]; rows: Record<string, string>[] } {
  const [columns = [], ...lines] = splitLines(text);
  const rows = lines.map((cells) => {
    if (cells.length !== columns.length) throw new Error(`${cells.length} cells: ${cells.join(" | ")}`);
    return Object.fromEntries(columns.map((name, position) => [name, cells[position] ?? ""]));
  });
  return { columns, rows };
}

/** Of a text without its header, too. */
export function splitLines(text: string): string[][] {
  const lines: string[][] = [];
  for (const line of text.split("\r\n").slice(0, -1)) {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/gu)];
    lines.push(cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ""));
  }
  return lines;
}
