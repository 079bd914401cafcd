/** Tells whoever keeps count of this process's charges what becomes of them. */
import type { StoreContext } from "../context.ts";
import { inReplyOrder } from "../redis/in-reply-order.ts";
import { OUTCOME } from "../redis/reply-layouts.ts";
import type { ChargeInput } from "../types/settlement.ts";
import { isRefusedCharge } from "./refused-charge.ts";

/**
 * The reply to a command that charges these; "on_record" says that it changed nothing. Rejects as the command does.
 * @param command As the client returned it.
 */
export function hearCharges(
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

/** Redis answered with an error: nothing was executed. */
function isAnswered(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}
