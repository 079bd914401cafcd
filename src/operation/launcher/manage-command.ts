import { basename, join, resolve } from "node:path";
import { isLoopbackAddress } from "../../shared/host/local-url.ts";

export interface ManageCommandInput {
  /** Directory from which the stack was started, and in which the next command will run. */
  readonly cwd: string;
  /** Directory of the program's package.json. */
  readonly packageFolder: string;
  /** Entry file of the program. */
  readonly entry: string;
  /** Name by which it was called: `process.argv[1]`. */
  readonly calledAs: string;
  /** Null: the built-in configuration. */
  readonly configFile: string | null;
  readonly dataDir: string;
  readonly adminUrl: string;
  /** True if the configuration refers to the operator's token, which is then not in the data directory. */
  readonly isTokenConfigured: boolean;
}

/**
 * Formats a command line that lists the organizations of this stack when pasted in the same directory: with
 * the program as it can be called there, and `--config` if the directory does not lead to the stack.
 */
export function formatManageCommand(input: ManageCommandInput): string {
  const { cwd, configFile, dataDir, adminUrl, isTokenConfigured } = input;
  const isFound = dataDir === join(cwd, "data");
  const isTrusted = isLoopbackAddress(new URL(adminUrl).hostname) && !isTokenConfigured;
  const config =
    configFile === null || (isFound && isTrusted) ? "" : ` --config ${quote(resolve(cwd, configFile))}`;
  return `${formatProgram(input)} org list${config}`;
}

/** Formats the program: `npx` works in the package's own directory; an installed program is on PATH. */
function formatProgram({ cwd, packageFolder, entry, calledAs }: ManageCommandInput): string {
  if (resolve(cwd) === resolve(packageFolder)) return "npx inference-gateway";
  return basename(calledAs) === "inference-gateway" ? "inference-gateway" : `node ${quote(entry)}`;
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
