/**
 * For the container image: removes files from `node_modules` that no program reads at run time, which is half
 * of it. Plain JavaScript, since it runs before anything is built: `node prune-packages.js FOLDER`.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Types and source maps. */
const UNREAD = /\.(?:d\.[mc]?ts|map)$/;
/** Tokenizer's other module format, its sources, and vocabularies that src/data-path/settlement does not load. */
const UNUSED_PARTS = [
  "gpt-tokenizer/cjs",
  "gpt-tokenizer/src",
  "gpt-tokenizer/data",
  ...["cl100k_base", "p50k_base", "r50k_base"].map((name) => `gpt-tokenizer/esm/bpeRanks/${name}.js`),
  "zod/src",
  // Only needed for the build.
  "protobufjs",
  "esbuild",
  "@esbuild",
  ".bin/esbuild",
];

const folder = process.argv[2] ?? "node_modules";
for (const part of UNUSED_PARTS) rmSync(join(folder, part), { recursive: true, force: true });
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.isFile() && UNREAD.test(entry.name)) rmSync(join(entry.parentPath, entry.name));
}
