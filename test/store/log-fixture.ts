/** Lines of the request log, as workers write them. */
import { formatRequestLogLine } from "../../src/data-path/request-log/line.ts";
import type { ChargeInput } from "../../src/shared/stored/settlement.ts";

/** Of these final charges, whose requests ended now, a line each. */
export function formatLog(charges: readonly ChargeInput[], nowMs: number): string {
  return charges.map((charge) => `${formatLine(charge, nowMs)}\n`).join("");
}

function formatLine(charge: ChargeInput, nowMs: number): string {
  const line = {
    identity: { ...charge, currency: "USD" },
    price: null,
    outcome: "complete",
    result: { status: 200, errorCode: null },
    tokens: charge.tokens,
    tools: [],
    estimated: charge.estimated,
    costMicrocents: charge.totalMicrocents,
  } as const;
  return formatRequestLogLine(line, nowMs);
}
