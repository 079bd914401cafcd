/** Awaits work on a file or directory; returns `otherwise` if it does not exist. */
export function unlessMissing<Result, Otherwise>(
  work: Promise<Result>,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return otherwise;
    throw error;
  });
}
