/**
 * Words that readers stumble over, and what to write instead, over pages and texts of the source. A word with a number of
 * uses is not rewritten everywhere: the number may fall, never rise. Quotes and code are not looked at; comments of the
 * source have a table of their own.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  readDeclaredNames,
  readPages,
  type ReadableText,
  readSourceComments,
  readSourceTexts,
} from "../../support/readable-texts.ts";

interface Word {
  readonly pattern: RegExp;
  readonly instead: string;
  /** Uses that are left in pages; 0 when left out. */
  readonly pages?: number;
  /** Uses that are left in texts of the source; 0 when left out. */
  readonly source?: number;
}

const WORDS: readonly Word[] = [
  { pattern: /\b(?:is|are) an? [45]\d\d\b/, instead: "returns 400" },
  { pattern: /\brefused with [45]\d\d\b/, instead: "returns 402" },
  { pattern: /\bholds? from the next\b/, instead: "applies from the next request" },
  { pattern: /\bfrom the next request on\b/, instead: "from the next request" },
  { pattern: /\bcounts? after a restart\b/, instead: "takes effect after a restart" },
  { pattern: /\bgiven whole(?! in)\b/i, instead: "replaces the whole list" },
  { pattern: /\bthis once\b/, instead: "only once" },
  { pattern: /\bput right\b/i, instead: "correct" },
  { pattern: /\blogs? of requests\b/i, instead: "request log" },
  { pattern: /\banew\b/, instead: "again, resets" },
  { pattern: /\bsome \d/i, instead: "about 20" },
  { pattern: /\b(?:goes|go) on\b/, instead: "continues" },
  { pattern: /\bpass(?:ed|es)? over\b/, instead: "skipped, ignored" },
  { pattern: /\bcapitals\b/, instead: "case" },
  { pattern: /\bblanks?\b(?! lines?\b)/, instead: "space" },
  { pattern: /\bmay be left out\b/, instead: "optional" },
  { pattern: /\bgrace time\b/i, instead: "grace period" },
  { pattern: /\bout of reach\b/i, instead: "unreachable" },
  { pattern: /\bRedis is away\b/, instead: "Redis is unreachable" },
  { pattern: /\bstands? still\b/, instead: "stalls" },
  { pattern: /\bformer\b/, instead: "previous" },
  { pattern: /\b(?:second|another) try\b/, instead: "retry" },
  { pattern: /\bmails?\b(?! server)/i, instead: "email" },
  { pattern: /\balarms?\b/i, instead: "alert" },
  { pattern: /\bfolders?\b/i, instead: "directory" },
  { pattern: /\bmodels?'s? servers?\b/i, instead: "model server" },
  { pattern: /\btenants?\b/i, instead: "organization" },
  { pattern: /(?<!openapi-)\bcustomers?\b/i, instead: "organization, user, admin", pages: 1 },
  { pattern: /\b(?:ceilings?|soft caps?)\b/i, instead: "hard cap, budget" },
  { pattern: /\bmasters?\b/i, instead: "primary" },
  { pattern: /\b(?:simply|sorry)\b/i, instead: "nothing" },
  { pattern: /\b(?:an|its|the (?:upstream|model server)'s) answers?\b/i, instead: "response" },
  { pattern: /\bwhat (?:became|came) of\b/i, instead: "the result of" },
  { pattern: /\bstands? (?:in|under)\b(?! for| its| their)/, instead: "is in, is listed under" },
  { pattern: /\belse\b/i, instead: "otherwise", pages: 5, source: 4 },
  { pattern: /\balone\b/, instead: "only", source: 2 },
  { pattern: /, too\b/, instead: "also", pages: 1, source: 1 },
  { pattern: /\bbesides?\b/i, instead: "with, next to, in addition", pages: 2 },
  { pattern: /\bbehind\b/, instead: "after", pages: 2, source: 2 },
  { pattern: /\b(?:is|are) none\b/, instead: "unknown, invalid, missing", source: 1 },
  { pattern: /\btells?\b/, instead: "shows, reports, returns" },
  { pattern: /\b(?:is|are) told\b/, instead: "is notified" },
  {
    pattern: /\b(?:some|no|any|every)body\b/i,
    instead: "the role: user, admin, caller",
    pages: 2,
  },
  { pattern: /\bwhom?ever\b/i, instead: "the role: user, admin, caller" },
  { pattern: /\bis (?:not )?there\b/, instead: "exists" },
  { pattern: /\brefus(?:e[sd]?|als?|ing)\b/i, instead: "reject; block", pages: 5, source: 9 },
  { pattern: /\bwhatever\b/i, instead: "regardless of" },
  { pattern: /^Where |, where /, instead: "if, when", pages: 2, source: 4 },
  { pattern: /(?:^|[.|] )What /, instead: "name the noun", pages: 2, source: 3 },
];

/** Uses that stay: part of a path or text → why. */
const ALLOWED: readonly { readonly file: RegExp; readonly text: RegExp; readonly why: string }[] = [
  {
    file: /^src\/operation\/cli\/completion\//,
    text: /folder/,
    why: "a word of the completion scripts, which nobody reads",
  },
  { file: /^src\/envoy\/bootstrap\//, text: /./, why: "comments of the rendered bootstrap, for who owns it" },
  { file: /^src\/data-path\/store\//, text: /./, why: "scripts of Redis, and errors that are defects" },
  { file: /compaction\.ts$/, text: /./, why: "a prompt for models" },
  { file: /client-tools\.ts$/, text: /./, why: "descriptions for models" },
];

const isAllowed = ({ file, text }: ReadableText): boolean =>
  ALLOWED.some((row) => row.file.test(file) && row.text.test(text));

const PAGES = readPages().filter((one) => !isAllowed(one));
const SOURCE = readSourceTexts().filter((one) => !isAllowed(one));

function listUses(texts: readonly ReadableText[], { pattern }: Word): readonly string[] {
  return texts
    .filter(({ text }) => pattern.test(text))
    .map(({ file, line, text }) => `${file}:${line}: ${text}`);
}

describe.each([
  { where: "pages", texts: PAGES, mostOf: ({ pages = 0 }: Word) => pages },
  { where: "texts of the source", texts: SOURCE, mostOf: ({ source = 0 }: Word) => source },
])("words in $where", ({ texts, mostOf }) => {
  it.each(WORDS)("$instead, not $pattern", (word) => {
    const uses = listUses(texts, word);
    expect(uses.slice(mostOf(word))).toEqual([]);
  });
});

/**
 * A comment begins with a noun or a verb, so that it can be read without the code below it, and names its nouns.
 * `comments`: uses that are left; 0 when left out.
 */
const IN_COMMENTS: readonly { pattern: RegExp; instead: string; comments?: number }[] = [
  { pattern: /^(?:Of|What of)\b/, instead: "a noun: Number of …, Length of …" },
  { pattern: /^(?:What|Who|Whom|Whose|Which)\b/, instead: "a noun, or a verb: Returns …" },
  { pattern: /^(?:Nobody|Somebody|Anybody|Whoever|Those|They|Their)\b/, instead: "the noun" },
  { pattern: /\b(?:nobody|somebody|anybody)\b/i, instead: "the role: user, admin, client", comments: 7 },
  { pattern: /\bwhom?ever\b/i, instead: "the role: user, admin, caller" },
  { pattern: /\b(?:told|tells?)\b/i, instead: "returns, reports, shows, says", comments: 3 },
  { pattern: /\bhears?\b/i, instead: "is called, is notified" },
  { pattern: /\bleft out\b/i, instead: "omitted" },
  { pattern: /\banew\b/i, instead: "again" },
  { pattern: /\bbeside\b/i, instead: "in addition to, next to" },
  { pattern: /\bout of reach\b/i, instead: "unreachable" },
  { pattern: /\bpass(?:ed|es) over\b/i, instead: "skipped, ignored" },
  { pattern: /\bgoes on|go on\b/i, instead: "continues" },
  { pattern: /\bwhat (?:became|becomes|came) of\b/i, instead: "the outcome of" },
];

const COMMENTS = readSourceComments();

describe("comments of the source", () => {
  it.each(IN_COMMENTS)("have $instead, not $pattern", ({ pattern, comments = 0 }) => {
    const uses = COMMENTS.filter(({ text }) => pattern.test(text)).map(
      ({ file, line, text }) => `${file}:${line}: ${text}`,
    );
    expect(uses.slice(comments)).toEqual([]);
  });

  it("are all found", () => {
    expect(COMMENTS.length).toBeGreaterThan(5_000);
  });
});

/** Words that name no subject, and what a name says instead. */
const IN_NAMES: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  {
    pattern: /\b(?:told|tells?|telling|untold|says?|said|hears?|heard)\b/,
    instead: "report, show, return, text",
  },
  { pattern: /\b(?:ask(?:s|ed|er|ing)?)\b/, instead: "call, query, request, prompt" },
  {
    pattern: /\b(?:left|leav(?:e|es|ing)|ow(?:e|es|ed))\b/,
    instead: "remaining, available, pending; abandon",
  },
  { pattern: /\b(?:keep(?:s|er)?|kept)\b/, instead: "store, cache, retain" },
  { pattern: /\b(?:forget|forgets|forgotten|gone|away)\b/, instead: "delete, evict; deleted, unreachable" },
  { pattern: /\b(?:ways?|room|beside|anew)\b/, instead: "the noun: path, memory, remaining" },
  {
    pattern: /\b(?:who|whom|whose|what|somebody|nobody|others|things?|t?here)\b/,
    instead: "the noun: caller, rest",
  },
];

/** Names that stay: part of a path and of the name's words → why. */
const ALLOWED_NAMES: readonly { readonly file: RegExp; readonly name: RegExp; readonly why: string }[] = [
  { file: /./, name: /\bkeep alive\b/, why: "the term of HTTP" },
  { file: /api\/statement\.ts$/, name: /^others$/, why: "a field of the API's response" },
];

const NAMES = readDeclaredNames().filter(
  ({ file, text }) => !ALLOWED_NAMES.some((allowed) => allowed.file.test(file) && allowed.name.test(text)),
);

describe("names of the source", () => {
  it.each(IN_NAMES)("have $instead, not $pattern", ({ pattern }) => {
    const uses = NAMES.filter(({ text }) => pattern.test(text)).map(
      ({ file, line, text }) => `${file}:${line}: ${text}`,
    );
    expect(uses).toEqual([]);
  });

  it("are all found", () => {
    expect(NAMES.length).toBeGreaterThan(20_000);
  });
});

/** A sentence of more words is two. */
const MAX_WORDS = 40;
/** Sentences that are longer today: the number may fall, never rise. */
const MAX_LONG_SENTENCES = 0;

it("sentences in pages have at most 40 words", () => {
  const long = PAGES.flatMap(({ file, line, text }) =>
    text
      .split(/(?<=[.!?])\s+|\s*\|\s*/)
      .filter((sentence) => sentence.split(/\s+/).length > MAX_WORDS)
      .map((sentence) => `${file}:${line}: ${sentence}`),
  );
  expect(long.slice(MAX_LONG_SENTENCES)).toEqual([]);
});

/** Tables that are made from the source: they are as long as they are. */
const GENERATED = /<!-- ([\w ]+?)(?:: begin)? -->\n[^]*?<!-- (?:\1: )?end -->/g;
/** Other words of a page, tables and code included. A page with more is two pages. */
const MAX_PAGE_WORDS = 1_500;

/** README.md and docs/, generated tables and diagrams included. */
const MAX_WORDS_OF_DOCS = 46_000;

/** The changelog grows with each release. */
const FILES = [...new Set(readPages().map(({ file }) => file))].filter((file) => file !== "CHANGELOG.md");

/** Bars of tables and marks of lists are no words. The source of a diagram counts: it is read on a terminal. */
const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
const readPage = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

it("pages have at most 1,500 words", () => {
  const tooLong = FILES.flatMap((file) => {
    const words = countWords(readPage(file).replaceAll(GENERATED, ""));
    return words <= MAX_PAGE_WORDS ? [] : [`${file}: ${words} words`];
  });
  expect(tooLong).toEqual([]);
});

it("README.md has at most 450 words", () => {
  expect(countWords(readPage("README.md"))).toBeLessThanOrEqual(450);
});

it("the documentation has at most 46,000 words", () => {
  const docs = FILES.filter((file) => file === "README.md" || file.startsWith("docs/"));
  expect(docs.length).toBeGreaterThan(40);
  expect(docs.reduce((sum, file) => sum + countWords(readPage(file)), 0)).toBeLessThan(MAX_WORDS_OF_DOCS);
});

it("no word is allowed that is not used", () => {
  const all = [...readPages(), ...readSourceTexts()];
  const unused = ALLOWED.filter(
    (row) => !all.some((one) => row.file.test(one.file) && row.text.test(one.text)),
  );
  expect(unused).toEqual([]);
});
