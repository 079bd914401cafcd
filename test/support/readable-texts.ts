/** Every text of this repository that users read: prose of pages, and texts in the source; and the comments of the source. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAst } from "vitest/node";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface ReadableText {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

function listFiles(...patterns: readonly string[]): readonly string[] {
  const output = execFileSync("git", ["ls-files", "--", ...patterns], { cwd: ROOT, encoding: "utf8" });
  return output.split("\n").filter((file) => file !== "");
}

/** Lines of Markdown without code, addresses of links and HTML comments. Generated test indexes are data. */
export function readPages(): readonly ReadableText[] {
  return listFiles("*.md", "docs/*.md")
    .filter((file) => file !== "test/test-index.md" && !file.startsWith("."))
    .flatMap((file) => proseOf(file, readFileSync(ROOT + file, "utf8")));
}

function proseOf(file: string, markdown: string): readonly ReadableText[] {
  const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");
  const prose = withoutCode(
    markdown.replaceAll(/^( *)```[\s\S]*?^\1```/gm, blank).replaceAll(/<!--[\s\S]*?-->/g, blank),
  )
    .replaceAll(/\]\([^)\n]*\)/g, "]")
    .replaceAll(/"[^"\n]*"/g, '"quoted"');
  return prose.split("\n").map((text, index) => ({ file, line: index + 1, text: text.trim() }));
}

/** Literals of the source with a space in them: messages, help, labels, texts of pages. */
export function readSourceTexts(): readonly ReadableText[] {
  return listFiles("src/*.ts", "src/*.tsx").flatMap((file) => {
    const source = readFileSync(ROOT + file, "utf8");
    const found: ReadableText[] = [];
    const program: unknown = parseAst(source, { lang: "tsx" });
    visit(program, (text, start) => {
      const line = source.slice(0, start).split("\n").length;
      if (/\w \w/.test(text)) found.push({ file, line, text: withoutCode(text.replaceAll(/\s+/g, " ")) });
    });
    return found;
  });
}

/** Comments of the source that stand on lines of their own, each as one text. */
export function readSourceComments(): readonly ReadableText[] {
  return listFiles("src/*.ts", "src/*.tsx", "src/*.js", "src/*.lua").flatMap((file) => {
    const source = readFileSync(ROOT + file, "utf8");
    const comment = file.endsWith(".lua") ? LUA_COMMENT : COMMENT;
    return [...source.matchAll(comment)].map(({ 0: written, index }) => ({
      file,
      line: source.slice(0, index).split("\n").length,
      text: withoutCode(written.replaceAll(MARKS, " ").trim().replaceAll(/\s+/g, " ")),
    }));
  });
}

/** A block, or lines with the same mark. */
const COMMENT = /^[ \t]*\/\*[^]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm;
const LUA_COMMENT = /(?:^[ \t]*--(?! @).*\n)+/gm;
const MARKS = /^[ \t]*(?:\/\*+|\*+\/|\*|\/\/|--)|\*+\/$/gm;

/** Code in backticks is no prose. */
function withoutCode(text: string): string {
  return text.replaceAll(/`[^`\n]*`/g, "`code`");
}

function visit(node: unknown, onText: (text: string, start: number) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, onText);
  if (!isNode(node)) return;
  const { type, start, value } = node;
  if ((type === "Literal" || type === "JSXText") && typeof value === "string") onText(value, start);
  if (type === "TemplateElement") onText((value as { readonly raw: string }).raw, start);
  for (const inner of Object.values(node)) if (typeof inner === "object") visit(inner, onText);
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly value?: unknown;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value;
}
