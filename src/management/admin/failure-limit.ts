import type { Context } from "hono";
import { AdminError } from "./admin-error.ts";
import { addressOf } from "./address.ts";
import type { MinuteLimit } from "./minute-limit.ts";

/**
 * Looks at a token, or refuses to where too many of its address were wrong, with whichever token: an answer tells nothing
 * about a guess. A call without a token is no guess, and not counted.
 * @throws AdminError 429; what `look` throws.
 */
export async function withFailureLimit<Result>(
  context: Context,
  limit: MinuteLimit,
  nowMs: number,
  look: () => Result | Promise<Result>,
): Promise<Result> {
  const address = addressOf(context);
  limit.requireRoom(address, nowMs, "too_many_wrong_tokens");
  try {
    return await look();
  } catch (thrown) {
    const hasToken = context.req.header("authorization") !== undefined;
    const isWrong = thrown instanceof AdminError && thrown.code === "invalid_token";
    if (hasToken && isWrong) limit.count(address, nowMs);
    throw thrown;
  }
}
