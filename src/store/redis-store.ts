/** The store, on Redis: each subject's part stands in its folder, and all of them go to Redis by one `run`. */
import { createAdmissionStore } from "./admission/admission-store.ts";
import { createAlertStore } from "./alerts/alerts.ts";
import { createDeliveryStore } from "./alerts/deliveries.ts";
import { monthAt } from "../time/calendar.ts";
import type { StoreContext } from "./context.ts";
import { createAuditStore } from "./management/audit.ts";
import { createKeyStore } from "./management/key-store.ts";
import { createOrganizationStore } from "./management/organization-store.ts";
import { createOwnerStore } from "./management/owners.ts";
import { createProviderKeyStore } from "./management/provider-keys.ts";
import { createSessionStore } from "./management/sessions.ts";
import { createTokenStore } from "./management/tokens.ts";
import type { RedisClient } from "./redis/client.ts";
import { TurnBatches } from "./redis/turn-batches.ts";
import { createRecentRequestStore } from "./requests/recent.ts";
import { createRequestStore } from "./requests/requests.ts";
import { createRun, type OperationMeter } from "./run.ts";
import type { Store } from "./types.ts";
import { NO_OWN_SPEND, type OwnSpend } from "./types/own-spend.ts";
import { createWindowStore } from "./usage/list-windows.ts";
import { createUsageStore } from "./usage/usage.ts";

export interface StoreOptions {
  readonly client: RedisClient;
  /** Whole months that figures are kept after their month has ended. */
  readonly usageMonths: number;
  /** Until then every operation rejects without asking Redis. Open from the start when left out. */
  readonly isOpen?: () => boolean;
  readonly meter?: OperationMeter | null;
  readonly ownSpend?: OwnSpend;
}

/** The client stays the caller's: it connects and disconnects it. */
export function createStore({
  client,
  usageMonths,
  isOpen = () => true,
  meter = null,
  ownSpend = NO_OWN_SPEND,
}: StoreOptions): Store {
  // A guess by this host's clock; the first answer of Redis puts it right.
  const month = { current: monthAt(Date.now()) };
  const spendFalls = { interim: 0, reaped: 0, correction: 0 };
  const context: StoreContext = {
    client,
    usageMonths,
    month,
    alerts: { fired: 0 },
    admissions: new TurnBatches(),
    briefCharges: new TurnBatches(),
    spendFalls,
    sessions: { uncapped: 0 },
    ownSpend,
  };
  const run = createRun({ context, isOpen, meter });
  return {
    ...createAdmissionStore(run),
    ...createRequestStore(run),
    ...createRecentRequestStore(run),
    ...createUsageStore(run),
    ...createWindowStore(run),
    ...createOrganizationStore(run),
    ...createKeyStore(run),
    ...createProviderKeyStore(run),
    ...createOwnerStore(run),
    ...createTokenStore(run),
    ...createSessionStore(run),
    ...createAuditStore(run),
    ...createAlertStore(run),
    ...createDeliveryStore(run),
    firedAlerts: () => context.alerts.fired,
    spendFalls: () => ({ ...spendFalls }),
    uncappedSessions: () => context.sessions.uncapped,
  };
}
