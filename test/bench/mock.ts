/** The model server of a benchmark, the compiled one where there is a compiler. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "../support/child.ts";
import { type CompiledProgram, compileProgram } from "./compiled.ts";
import { createMockAnswers, formatAnswerFile } from "./mock-answers.ts";
import type { Process } from "./processes.ts";
import { TEXT_CHUNKS } from "./workloads.ts";

export interface Mock {
  readonly name: "compiled" | "node";
  readonly port: number;
  readonly process: Process;
  readonly child: Child;
  stop(): Promise<void>;
}

/** Starts it and resolves when it listens. `name`: the one that is wanted; the better one when left out. */
export async function startMock(name?: Mock["name"]): Promise<Mock> {
  const program = name === "node" ? null : compileProgram("mock-upstream");
  if (program === null && name === "compiled") throw new Error("there is no C compiler: name one in CC");
  const child = program === null ? startNodeMock() : startCompiledMock(program);
  const { port } = await child.waitForLine("the mock's port", (line) => JSON.parse(line) as { port: number });
  return {
    name: program === null ? "node" : "compiled",
    port,
    process: { pid: child.pid, kind: "mock", args: [] },
    child,
    async stop() {
      await child.stop(5_000);
      program?.remove();
    },
  };
}

function startCompiledMock({ path }: CompiledProgram): Child {
  const answers = `${path}.answers`;
  writeFileSync(answers, formatAnswerFile(createMockAnswers(TEXT_CHUNKS)));
  return startChild(path, [answers]);
}

function startNodeMock(): Child {
  const program = fileURLToPath(new URL("mock-upstream.ts", import.meta.url));
  return startChild(process.execPath, ["--import", import.meta.resolve("tsx"), program, String(TEXT_CHUNKS)]);
}
