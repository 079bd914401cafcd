import { parseArray } from "./parse-reply.ts";

/**
 * Hears a command's reply, or its failure, in the order in which Redis executed the commands of a connection. Replies that
 * arrive in one piece settle their commands in order, and what waits for them goes on in order only as long as equally many
 * promises stand in between: so what depends on the order is done here, directly behind the command.
 * @param command As the client returned it.
 */
export function inReplyOrder<Heard>(
  command: Promise<unknown>,
  hear: (reply: readonly unknown[]) => Heard,
  onFailure?: (error: unknown) => void,
): Promise<Heard> {
  return command.then(
    (reply) => hear(parseArray(reply)),
    (error: unknown) => {
      onFailure?.(error);
      throw error;
    },
  );
}
