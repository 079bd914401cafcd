/** Every text of this repository that users read: prose of pages, and texts in the source; and the comments and names of the source. */
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

/** Names that the source declares, each as its words: "leftMs" → "left ms". Keys of object literals are not declared. */
export function readDeclaredNames(): readonly ReadableText[] {
  const inScripts = listFiles("src/*.ts", "src/*.tsx", "src/*.js").flatMap((file) => {
    const source = readFileSync(ROOT + file, "utf8");
    const program: unknown = parseAst(source, { lang: file.endsWith(".js") ? "js" : "tsx" });
    return declaredIn(program).map(({ name, start }) => {
      const line = source.slice(0, start).split("\n").length;
      return { file, line, text: wordsOf(name) };
    });
  });
  const inLua = listFiles("src/*.lua").flatMap((file) =>
    readFileSync(ROOT + file, "utf8")
      .split("\n")
      .flatMap((code, index) =>
        [...code.replace(/--.*/, "").matchAll(LUA_DECLARATION)]
          .flatMap(([, names = "", of = ""]) => `${names},${of}`.split(/[\s,.]+/))
          .map((name) => ({ file, line: index + 1, text: wordsOf(name) })),
      ),
  );
  return [...inScripts, ...inLua];
}

/** Locals, and functions with their parameters. */
const LUA_DECLARATION = /\b(?:local (?!function)([\w, ]+)|function ?([\w.]*\([\w, ]*))/g;

function wordsOf(name: string): string {
  return name
    .split(/[_#(]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .join(" ")
    .toLowerCase();
}

interface Declared {
  readonly name: string;
  readonly start: number;
}

function declaredIn(node: unknown): readonly Declared[] {
  if (Array.isArray(node)) return node.flatMap(declaredIn);
  if (!isNode(node)) return [];
  const { type, id, key, params, param, name } = node as SyntaxNode & Readonly<Record<string, unknown>>;
  const own = DECLARES_KEY.test(type)
    ? [key, params]
    : type === "TSTypeParameter"
      ? [name]
      : [id, params, param];
  const inner = Object.values(node).flatMap((value) => (typeof value === "object" ? declaredIn(value) : []));
  return [...(DECLARES.test(type) ? own.flatMap(boundIn) : []), ...inner];
}

const DECLARES_KEY = /^(?:MethodDefinition|PropertyDefinition|TSPropertySignature|TSMethodSignature)$/;
const DECLARES =
  /^(?:MethodDefinition|PropertyDefinition|TSPropertySignature|TSMethodSignature|TSTypeParameter|VariableDeclarator|Class\w+|Function\w+|ArrowFunctionExpression|TSInterfaceDeclaration|TSTypeAliasDeclaration|TSFunctionType|CatchClause)$/;

/** Names in a pattern. The two sides of a comparison, `left` and `right`, are standard. */
function boundIn(pattern: unknown): readonly Declared[] {
  if (Array.isArray(pattern)) {
    const bound = pattern.flatMap(boundIn);
    return bound.some(({ name }) => name === "right") ? bound.filter(({ name }) => name !== "left") : bound;
  }
  if (!isNode(pattern)) return [];
  const { start, name, properties, elements, left, argument, value } = pattern as SyntaxNode &
    Readonly<Record<string, unknown>>;
  if (typeof name === "string") return [{ name, start }];
  return boundIn(properties ?? elements ?? left ?? argument ?? value);
}
