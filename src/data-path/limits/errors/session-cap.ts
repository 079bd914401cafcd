/** Error 402 of a session whose cap is reached, with the texts of `spend-cap.ts`. */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { ceilCents, formatCents, isReached, wholeCents } from "../../../shared/money/money.ts";
import type { SessionFigures } from "../../../shared/stored/settlement.ts";
import type { Admission } from "../admission.ts";
import { type RequestedHold, describeAffordable, formatFigures } from "./spend-cap.ts";

/**
 * Builds the error. Amounts are never hidden: a session is narrower than its key, whose figures clients may
 * read anyway.
 * @param requested Requested amounts; null without strict caps.
 */
export function createSessionCapError(
  { spentMicrocents, heldMicrocents, capCents }: SessionFigures,
  { identity: { session }, caller: { keyName, currency } }: Pick<Admission, "identity" | "caller">,
  requested: RequestedHold | null,
): GatewayError {
  const cap = `The cap of ${formatCents(capCents, currency)} for session "${session ?? ""}" of API key "${keyName}"`;
  const spent = `${formatCents(wholeCents(spentMicrocents), currency)} spent`;
  const described =
    isReached(capCents, spentMicrocents) || requested === null
      ? `${cap} is reached: ${spent}.`
      : `${cap} would be exceeded: ${spent}, ${formatCents(ceilCents(heldMicrocents), currency)} reserved for requests in flight, and this request may cost up to ${formatCents(ceilCents(requested.worstCaseMicrocents), currency)}.`;
  const strict =
    requested === null
      ? {}
      : {
          held: { heldMicrocents, worstCaseMicrocents: requested.worstCaseMicrocents },
          affordable: requested.affordable,
        };
  return new GatewayError("session_cap_reached", {
    message: `${described}${describeAffordable(strict)} Raise the session cap of the key or organization, or end this run.`,
    fields: {
      scope: "session",
      period: "session",
      resets_at: null,
      ...formatFigures({ spentMicrocents, capCents, raisedCents: 0, ...strict }),
    },
  });
}
