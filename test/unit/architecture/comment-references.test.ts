/** A comment that sends its reader to a file of the repository names one that is there. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../..");
/** Folders whose files are written here; what lies deeper in none of them is made or installed. */
const FOLDERS = [".github", "deploy", "docs", "envoy", "proto", "src", "test"];
const SOURCES = /^(?:src|test)\/.*\.(?:ts|tsx|js|lua)$/;
const LUA_COMMENT = /--.*$/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$/gm;
/** A file's name in a comment, with as much of its path as stands there. */
const FILE = /(?<![\w:/.*%-])[\w./-]*[\w-]+\.(?:ts|tsx|js|lua|md|proto|yaml|json)\b/g;

/** What is named and is no file of the repository, each with what it is. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ".gateway.yaml": "the end of a name",
  "descriptor.proto": "of Protocol Buffers",
  "opentelemetry/proto/trace/v1/trace.proto": "of OpenTelemetry",
  "tests/data-plane/envoy.yaml": "of another gateway's repository",
  "spec/standard-webhooks.md": "of Standard Webhooks",
  "node_modules/.package-lock.json": "written by npm",
  "dist/main.js": "written by the build",
};

describe("a file that a comment names", () => {
  const files = [
    ...readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isFile()),
    ...FOLDERS.flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true }),
    ),
  ]
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("/node_modules"))
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
  const endings = new Set(files.flatMap(endingsOf));

  it.each(["src", "test"])("is in the repository, for those of %s", (folder) => {
    const sources = files.filter((file) => file.startsWith(`${folder}/`) && SOURCES.test(file));
    expect(sources.length).toBeGreaterThan(100);
    const gone = sources.flatMap((file) =>
      namedIn(file)
        .filter((name) => !(name in ELSEWHERE) && !endings.has(name.replace(/^(?:\.{0,2}\/)+/, "")))
        .map((name) => `${file}: ${name}`),
    );
    expect(gone).toEqual([]);
  });
});

/** All by which a file can be named: its path, and any end of it that begins with a folder's or its own name. */
function endingsOf(file: string): readonly string[] {
  const parts = file.split("/");
  return parts.map((_, position) => parts.slice(position).join("/"));
}

function namedIn(file: string): readonly string[] {
  const text = readFileSync(path.join(ROOT, file), "utf8");
  const comments = text.match(file.endsWith(".lua") ? LUA_COMMENT : COMMENT) ?? [];
  return comments.flatMap((comment) => comment.match(FILE) ?? []);
}
