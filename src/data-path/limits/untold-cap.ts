/** The month's caps of key and organization, which an admission tells among the settings unless they are raised. */
import { monthCapOf } from "../../shared/settings/month-limits.ts";
import type { AdmittedCap, KnownKeyResult } from "../store/types/admission.ts";

/** As the told ones are; null: there is none, or it is among the told ones. */
export function untoldMonthCap(result: KnownKeyResult, scope: "key" | "organization"): AdmittedCap | null {
  const cents = monthCapOf(result[scope]);
  if (cents === null || result.caps.some((cap) => cap.scope === scope && cap.period === "month")) return null;
  return { scope, period: "month", cents, raisedCents: 0, spentMicrocents: result[scope].spentMicrocents };
}
