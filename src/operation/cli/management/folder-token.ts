import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, sep } from "node:path";

/** Larger than any token. */
const MAX_TOKEN_BYTES = 4_096;

/** Contents of a directory's token file, null if missing; or why it is not trusted. */
export type FolderToken = { readonly text: string | null } | { readonly problem: string };

/**
 * Reads the token that a gateway has left in a directory. The file must be a regular file of the user in that
 * directory, without links that lead out. Anything else might be another secret of the user under this name.
 */
export function readFolderToken(path: string, folder: string): FolderToken {
  try {
    const real = `${realpathSync(dirname(path))}${sep}`;
    if (!real.startsWith(withSeparator(realpathSync(folder)))) {
      return { problem: `takes the operator's token from outside this directory, ${path}` };
    }
    return readPlainFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { text: null };
    if (code === "ELOOP") return { problem: `its token file ${path} is a link` };
    return { problem: `its token file ${path} cannot be read (${String(code)})` };
  }
}

function readPlainFile(path: string): FolderToken {
  // Non-blocking: a pipe might have no writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const state = fstatSync(file);
    if (!state.isFile()) return { problem: `its token file ${path} isn't a plain file` };
    if (state.nlink > 1) return { problem: `its token file ${path} is also linked from another directory` };
    if (process.getuid !== undefined && state.uid !== process.getuid()) {
      return { problem: `its token file ${path} belongs to another user` };
    }
    if (state.size > MAX_TOKEN_BYTES) return { problem: `its token file ${path} is too long for a token` };
    const bytes = Buffer.alloc(MAX_TOKEN_BYTES);
    const text = bytes.toString("utf8", 0, readSync(file, bytes)).trim();
    return { text: text === "" ? null : text };
  } finally {
    closeSync(file);
  }
}

function withSeparator(folder: string): string {
  return folder.endsWith(sep) ? folder : `${folder}${sep}`;
}
