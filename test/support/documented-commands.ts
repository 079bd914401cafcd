/** Commands of the documents: test/cli/documented-commands.test.ts runs each that has no reason here. */
import { listCodeBlocks, listCodeSpans } from "./documents.ts";

/** How a command begins → why it is not run, and what tries it. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "export ANTHROPIC_BASE_URL": "starts Claude Code: test/clients/claude-code.test.ts",
  "npm start -- --upstream":
    "installs, builds and serves until it is stopped: test/setup/up-upstream.test.ts",
  "npm start": "installs, builds and serves until it is stopped: test/setup/up.test.ts",
  "npm test --": "is a test itself: test/dashboard/pictures.test.ts",
  "IGW_PICTURES=": "is a test itself: test/dashboard/pictures.test.ts",
  "npm run bench": "takes minutes: test/setup/bench-programs.test.ts",
  "npx tsx test/bench/": "takes minutes, and fills a Redis",
  "inference-gateway config check":
    "shows what files with mistakes get: test/cli/documented-commands.test.ts",
  "docker compose": "wants a container engine: test/packaging/compose.test.ts",
  "KEY=$(docker compose": "wants a container engine: test/packaging/compose.test.ts",
  "docker build": "wants a container engine: test/packaging/compose.test.ts",
  "curl localhost:10000": "wants the containers: test/packaging/compose.test.ts",
  "KEY=$(kubectl": "wants a cluster: test/packaging/kubernetes.test.ts",
  kubectl: "wants a cluster: test/packaging/kubernetes.test.ts",
  helm: "wants a cluster: test/packaging/chart.test.ts",
  "envoy -c envoy.yaml": "Envoy runs already, on the same port: test/envoy/bootstrap-examples.test.ts",
};

interface DocumentedCommand {
  readonly page: string;
  readonly command: string;
}

/** Blocks of shell as a whole, sessions at a prompt command by command, and what is to be asked for within a sentence. */
export function listCommands(): DocumentedCommand[] {
  const blocks = listCodeBlocks().filter(({ page }) => page !== "docs/first-cap.md");
  const commands = blocks.flatMap(({ page, language, text }) => {
    if (language === "sh") return [{ page, command: text.trimEnd() }];
    if (language !== "console") return [];
    const typed = text.matchAll(/^\$ (.*(?:\\\n.*)*)/gm);
    return Array.from(typed, ([, command = ""]) => ({ page, command }));
  });
  const asked = listCodeSpans().filter(({ text }) => text.startsWith("curl "));
  return [...commands, ...asked.map(({ page, text }) => ({ page, command: text }))];
}

export const reasonOf = (command: string): string | undefined =>
  Object.keys(NOT_RUN).find((begin) => command.startsWith(begin));
