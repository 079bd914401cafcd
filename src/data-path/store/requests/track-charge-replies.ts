/** Notifies `OwnSpend` of the outcome of each charge that this process sends. */
import type { StoreContext } from "../context.ts";
import { inReplyOrder } from "../redis/in-reply-order.ts";
import { OUTCOME } from "../redis/reply-layouts.ts";
import type { ChargeInput } from "../../../shared/stored/settlement.ts";
import { isRefusedCharge } from "./refused-charge.ts";

/**
 * Returns the reply to a command that writes these charges; "on_record" means that nothing was changed.
 * Rejects as the command does.
 * @param command As the client returned it.
 */
export function trackChargeReplies(
  { ownSpend }: StoreContext,
  charges: readonly ChargeInput[],
  command: Promise<unknown>,
): Promise<readonly unknown[]> {
  return inReplyOrder(
    command,
    (reply) => {
      if (reply[OUTCOME] !== "on_record") for (const charge of charges) ownSpend.acknowledged(charge);
      return reply;
    },
    (error) => {
      if (isRefusedCharge(error)) for (const charge of charges) ownSpend.acknowledged(charge);
      else if (!isAnswered(error)) for (const charge of charges) ownSpend.unanswered(charge);
    },
  );
}

/** Returns whether Redis answered with an error: nothing was executed. */
function isAnswered(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}
