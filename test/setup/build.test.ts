import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkTypes, ensureBuild, skipRightNames } from "../../src/operation/setup/build.js";
import { createTestFolder } from "./support/stand-in-stack.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

/** A repository of a program, a Lua script and a page, with this one's compiler and settings. */
function createRepository(): string {
  const root = createTestFolder();
  mkdirSync(join(root, "src", "lua"), { recursive: true });
  for (const path of ["tsconfig.json", "src/tsconfig.json"]) cpSync(join(REPOSITORY, path), join(root, path));
  cpSync(join(REPOSITORY, "proto"), join(root, "proto"), { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules"), join(root, "node_modules"));
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  writeFileSync(join(root, "package-lock.json"), "{}");
  writeFileSync(
    join(root, "src", "main.ts"),
    '#!/usr/bin/env node\nimport { part } from "./part.ts";\nprocess.stdout.write(`${part}\\n`);\nif (process.argv[2] === "later") await import("./later.ts");\n',
  );
  writeFileSync(join(root, "src", "later.ts"), 'throw new Error("thrown later");\n');
  mkdirSync(join(root, "src", "data-path", "settlement", "tokens"), { recursive: true });
  writeFileSync(
    join(root, "src", "data-path", "settlement", "tokens", "tokenizer-thread.ts"),
    'import "gpt-tokenizer/encoding/o200k_base";\n',
  );
  mkdirSync(join(root, "src", "envoy", "messages"), { recursive: true });
  writeFileSync(join(root, "src", "envoy", "messages", "generic-codec.ts"), "export const CODEC = 1;\n");
  writeFileSync(join(root, "src", "part.ts"), "export const part: number = 1;\n");
  writeFileSync(join(root, "src", "lua", "admit.lua"), "return 1\n");
  return root;
}

/** The built program. */
function run(root: string, { node = [], args = [] }: { node?: string[]; args?: string[] } = {}) {
  return spawnSync(process.execPath, [...node, join(root, "dist", "main.js"), ...args], { encoding: "utf8" });
}

describe("ensureBuild", () => {
  it("makes one file of what the program imports, copies what is no source, and makes the program executable", async () => {
    const root = createRepository();
    expect(await ensureBuild(root)).toBe("built");
    expect(run(root).stdout).toBe("1\n");
    expect(existsSync(join(root, "dist", "part.js"))).toBe(false);
    expect(readFileSync(join(root, "dist", "lua", "admit.lua"), "utf8")).toBe("return 1\n");
    expect(statSync(join(root, "dist", "main.js")).mode & 0o111).toBe(0o111);
    expect(existsSync(join(root, "dist", "tsconfig.json"))).toBe(false);
  });

  it("keeps the names of classes, by which errors are told apart, and takes no time for those of arrow functions", async () => {
    const root = createRepository();
    writeFileSync(
      join(root, "src", "main.ts"),
      "class Refusal extends Error { static readonly none = new Refusal(); }\nconst later = (): number => 1;\nprocess.stdout.write(JSON.stringify([Refusal.none.constructor.name, later.name]));\n",
    );
    await ensureBuild(root);
    expect(JSON.parse(run(root).stdout)).toEqual(["Refusal", ""]);
  });

  it("says so where names are kept by a function in words that it does not know", () => {
    const draft = createTestFolder();
    const call = "var one = class { static { __name(this, 'one'); } };";
    writeFileSync(
      join(draft, "main.js"),
      `let __name = (target, value) => rename(target, value);\n${call}\n`,
    );
    expect(() => skipRightNames(draft)).toThrow(/SET_NAME/);
  });

  it("lets V8 compile who makes objects of a class that extends another one", async () => {
    const root = createRepository();
    writeFileSync(
      join(root, "src", "main.ts"),
      "class Part {}\nclass Whole extends Part { constructor() { super(); } get two(): number { return 2; } }\nlet sum = 0;\nfunction add(): void { for (let count = 0; count < 1_000; count += 1) sum += new Whole().two; }\nfor (let round = 0; round < 1_000; round += 1) add();\nprocess.stdout.write(`${sum}\\n`);\n",
    );
    await ensureBuild(root);
    const { stdout } = run(root, { node: ["--trace-opt"] });
    expect(stdout).toContain("2000000\n");
    expect(stdout).toContain("completed optimizing");
    expect(stdout).not.toContain("dependency change");
  });

  it("imports the globals of Node that are getters", async () => {
    const root = createRepository();
    writeFileSync(
      join(root, "src", "main.ts"),
      "process.stdout.write(Buffer.from([performance.now() && 65]));\n",
    );
    await ensureBuild(root);
    expect(run(root).stdout).toBe("A");
    const files = readdirSync(join(root, "dist")).filter((name) => name.endsWith(".js"));
    const built = files.map((name) => readFileSync(join(root, "dist", name), "utf8")).join("");
    for (const name of ["buffer", "perf_hooks", "process"]) expect(built).toContain(`from "node:${name}"`);
  });

  it("loads nothing that only Node's exports for an import of node:http need", async () => {
    const root = createRepository();
    writeFileSync(
      join(root, "src", "main.ts"),
      'import { createServer } from "node:http";\nconst { moduleLoadList } = process as unknown as { moduleLoadList: string[] };\nprocess.stdout.write(`${typeof createServer} ${moduleLoadList.filter((name) => name.includes("undici"))}\\n`);\n',
    );
    await ensureBuild(root);
    expect(run(root).stdout).toBe("function \n");
  });

  it("removes what Node compiled of the former program, which keeps that for its next start", async () => {
    const root = createRepository();
    const compiled = join(root, ".cache", "compiled");
    mkdirSync(compiled, { recursive: true });
    await ensureBuild(root);
    expect(existsSync(compiled)).toBe(false);
    cpSync(join(REPOSITORY, "dist"), join(root, "dist"), { recursive: true });
    cpSync(join(REPOSITORY, "package.json"), join(root, "package.json"));
    // vitest has a cache of its own, or forbids one, for whatever it starts.
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: undefined, NODE_COMPILE_CACHE: undefined };
    spawnSync(process.execPath, [join(root, "dist", "main.js"), "--version"], { env });
    expect(readdirSync(compiled)).not.toEqual([]);
  });

  it("leaves the tokenizer's vocabulary where it is", async () => {
    const root = createRepository();
    await ensureBuild(root);
    const thread = readFileSync(
      join(root, "dist", "data-path", "settlement", "tokens", "tokenizer-thread.js"),
      "utf8",
    );
    expect(thread).toContain('import "gpt-tokenizer/encoding/o200k_base"');
    expect(thread.length).toBeLessThan(1_000);
  });

  it("writes maps by which a stack trace names the source", async () => {
    const root = createRepository();
    await ensureBuild(root);
    const { stderr } = run(root, { node: ["--enable-source-maps"], args: ["later"] });
    expect(stderr).toContain("thrown later");
    expect(stderr).toContain(`${join(root, "src", "later.ts")}:1`);
  });

  it("builds again when a content changes, not when a file is only touched", async () => {
    const root = createRepository();
    await ensureBuild(root);
    utimesSync(join(root, "src", "part.ts"), new Date(), new Date());
    expect(await ensureBuild(root)).toBe("unchanged");
    writeFileSync(join(root, "src", "lua", "admit.lua"), "return 2\n");
    expect(await ensureBuild(root)).toBe("built");
    expect(readFileSync(join(root, "dist", "lua", "admit.lua"), "utf8")).toBe("return 2\n");
    appendFileSync(join(root, "proto", "google", "rpc", "status.proto"), "message Added {}\n");
    expect(await ensureBuild(root)).toBe("built");
  });

  it("keeps the former output when the sources do not compile, and shows where", async () => {
    const root = createRepository();
    await ensureBuild(root);
    writeFileSync(join(root, "src", "part.ts"), "export const part: number = ;\n");
    await expect(ensureBuild(root)).rejects.toThrow(/do not compile:\n[^]*src\/part\.ts:1:28: ERROR/);
    expect(run(root).stdout).toBe("1\n");
  });

  it("replaces an output without a stamp and drops what a killed build left", async () => {
    const root = createRepository();
    mkdirSync(join(root, "dist"));
    mkdirSync(join(root, "dist.12345"));
    writeFileSync(join(root, "dist", "stale.js"), "");
    expect(await ensureBuild(root)).toBe("built");
    expect(existsSync(join(root, "dist", "stale.js"))).toBe(false);
    expect(existsSync(join(root, "dist.12345"))).toBe(false);
  });
});

describe("checkTypes", () => {
  it("shows where types do not fit", async () => {
    const root = createRepository();
    await checkTypes(root);
    writeFileSync(join(root, "src", "part.ts"), 'export const part: number = "one";\n');
    await expect(checkTypes(root)).rejects.toThrow(/do not compile:\nsrc\/part\.ts\(1,14\)/);
  });
});
