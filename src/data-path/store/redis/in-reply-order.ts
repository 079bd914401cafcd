import { parseArray } from "./parse-reply.ts";

/**
 * Calls back with a command's reply or error in the order in which Redis executed the commands of a
 * connection. Replies that arrive in one packet settle their commands in order, but code that awaits them
 * only continues in order if equally many promises are in between. So order-dependent work must be done here,
 * directly on the command.
 * @param command As the client returned it.
 */
export function inReplyOrder<Result>(
  command: Promise<unknown>,
  onReply: (reply: readonly unknown[]) => Result,
  onFailure?: (error: unknown) => void,
): Promise<Result> {
  return command.then(
    (reply) => onReply(parseArray(reply)),
    (error: unknown) => {
      onFailure?.(error);
      throw error;
    },
  );
}
