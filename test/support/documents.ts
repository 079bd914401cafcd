/** The product's documents, and what of them is code. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Paths within the repository. */
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "envoy/README.md",
  ...readdirSync(`${ROOT}docs`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

interface Page {
  readonly page: string;
  /** Without its blocks of code. */
  readonly prose: string;
}

interface CodeBlock {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

/** Every block between fences, without the blanks that it is moved to the right by within a list. */
export function listCodeBlocks(): CodeBlock[] {
  const block = /^( *)```(\w+)\n(.*?)^\1```$/gms;
  return PAGES.flatMap((page) =>
    Array.from(readPage(page).matchAll(block), ([, indent = "", language = "", text = ""]) => ({
      page,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    })),
  );
}

/** What people read. */
export function listPages(): Page[] {
  return PAGES.map((page) => ({ page, prose: readPage(page).replace(/^ *```.*?^ *```$/gms, "") }));
}

/** Every piece of code within a sentence, without its backticks. */
export function listCodeSpans(): { readonly page: string; readonly text: string }[] {
  return listPages().flatMap(({ page, prose }) =>
    Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, text = ""]) => ({ page, text })),
  );
}

function readPage(page: string): string {
  return readFileSync(`${ROOT}${page}`, "utf8");
}
