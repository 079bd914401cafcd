import { basename, join, resolve } from "node:path";
import { isLoopbackAddress } from "../../shared/host/local-url.ts";

export interface ManageCommandInput {
  /** The folder that the stack was started from, and the next command is run in. */
  readonly cwd: string;
  /** The folder of the program's package.json. */
  readonly packageFolder: string;
  /** The program's file. */
  readonly entry: string;
  /** How it was called: `process.argv[1]`. */
  readonly calledAs: string;
  /** Null: the built-in configuration. */
  readonly configFile: string | null;
  readonly dataDir: string;
  readonly adminUrl: string;
  /** The configuration refers to the operator's token, which is then not in its data folder. */
  readonly isTokenConfigured: boolean;
}

/**
 * A command line that shows the organizations of this stack when it is pasted in the same folder: with the program as it
 * can be called there, and `--config` where the folder alone does not lead to the stack.
 */
export function formatManageCommand(input: ManageCommandInput): string {
  const { cwd, configFile, dataDir, adminUrl, isTokenConfigured } = input;
  const isFound = dataDir === join(cwd, "data");
  const isTrusted = isLoopbackAddress(new URL(adminUrl).hostname) && !isTokenConfigured;
  const config =
    configFile === null || (isFound && isTrusted) ? "" : ` --config ${quote(resolve(cwd, configFile))}`;
  return `${formatProgram(input)} org list${config}`;
}

/** `npx` knows the package in whose folder it runs; after an installation the name is on PATH. */
function formatProgram({ cwd, packageFolder, entry, calledAs }: ManageCommandInput): string {
  if (resolve(cwd) === resolve(packageFolder)) return "npx inference-gateway";
  return basename(calledAs) === "inference-gateway" ? "inference-gateway" : `node ${quote(entry)}`;
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
