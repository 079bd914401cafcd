/** Resolves after this many milliseconds. `ref: false`: does not keep the process alive meanwhile. */
export function pause(ms: number, { ref = true }: { readonly ref?: boolean } = {}): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (!ref) timer.unref();
  });
}

/** Resolves when the promise does, or after the bound; ignores the promise afterwards. */
export async function waitAtMost(promise: Promise<unknown>, boundMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, boundMs));
  });
  try {
    await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the promise's result. @throws Error with this message if it takes too long. */
export async function requireInTime<Result>(
  promise: Promise<Result>,
  boundMs: number,
  message: string,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(message)), boundMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
