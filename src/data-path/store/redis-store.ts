/**
 * Store on Redis: assembles the parts from each subject's directory. All of them send their commands through
 * one `run`.
 */
import { createAdmissionStore } from "./admission/admission-store.ts";
import { createAlertStore } from "./alerts/alerts.ts";
import { createDeliveryStore } from "./alerts/deliveries.ts";
import { monthAt } from "../../shared/time/calendar.ts";
import type { StoreContext } from "./context.ts";
import { createAuditStore } from "./management/audit.ts";
import { keyOperations } from "./management/api-keys.ts";
import { deletedOrganizationOperations } from "./management/deleted-organizations.ts";
import { organizationOperations } from "./management/organizations.ts";
import { createOwnerStore } from "./management/owners.ts";
import { createProviderKeyStore } from "./management/provider-keys.ts";
import { repair } from "./management/repair.ts";
import { createSessionStore } from "./management/sessions.ts";
import { createTokenStore } from "./management/tokens.ts";
import { createMemoryStore } from "./memory.ts";
import { createPatientClient, type RedisClient } from "./redis/client.ts";
import { TurnBatches } from "./redis/turn-batches.ts";
import { createRecentRequestStore } from "./requests/recent.ts";
import { createRequestStore } from "./requests/requests.ts";
import { createRun, type OperationMeter, storeOf } from "./run.ts";
import type {
  DeletedOrganizationStore,
  KeyStore,
  OrganizationStore,
} from "../../shared/stored/management.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { AdmitInput, AdmitResult } from "../../shared/stored/admission.ts";
import { NO_OWN_SPEND, type OwnSpend } from "../../shared/stored/own-spend.ts";
import { createWindowStore } from "./usage/list-windows.ts";
import { createUsageStore } from "./usage/usage.ts";

const createKeyStore = storeOf<KeyStore>({ ...keyOperations, repair });
const createOrganizationStore = storeOf<OrganizationStore & DeletedOrganizationStore>({
  ...organizationOperations,
  ...deletedOrganizationOperations,
});

export interface StoreOptions {
  readonly client: RedisClient;
  /** Number of whole months for which figures are kept after their month has ended. */
  readonly usageMonths: number;
  /** While false, every operation rejects without sending a command. Default: always open. */
  readonly isOpen?: () => boolean;
  readonly meter?: OperationMeter | null;
  readonly ownSpend?: OwnSpend;
}

/** One store with two command timeouts. */
export interface StoreOfBoth {
  readonly store: Store;
  /** For callers without a fallback: commands wait as long as Envoy's call allows. */
  readonly patient: Store;
}

/** Creates a store. The caller keeps the client and connects and disconnects it. */
export function createStore(options: StoreOptions): Store {
  return bindStore(createContext(options), options);
}

/** Creates both stores; they share the client and all cached state. */
export function createStoreOfBoth(options: StoreOptions): StoreOfBoth {
  const context = createContext(options);
  const patient = {
    ...context,
    client: createPatientClient(options.client),
    // Both stores share batches: a batch is one command with one timeout.
    admissions: new TurnBatches<AdmitInput, AdmitResult>(),
  };
  return { store: bindStore(context, options), patient: bindStore(patient, options) };
}

function createContext({ client, usageMonths, ownSpend = NO_OWN_SPEND }: StoreOptions): StoreContext {
  // A guess by this host's clock; the first reply of Redis corrects it.
  const month = { current: monthAt(Date.now()) };
  return {
    client,
    usageMonths,
    month,
    alerts: { fired: 0 },
    admissions: new TurnBatches(),
    singleCharges: new TurnBatches(),
    spendFalls: { interim: 0, reaped: 0, correction: 0 },
    sessions: { uncapped: 0 },
    ownSpend,
  };
}

function bindStore(context: StoreContext, { isOpen = () => true, meter = null }: StoreOptions): Store {
  const run = createRun({ context, isOpen, meter });
  return {
    ...createAdmissionStore(run),
    ...createRequestStore(run),
    ...createRecentRequestStore(run),
    ...createMemoryStore(run),
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
    spendFalls: () => ({ ...context.spendFalls }),
    uncappedSessions: () => context.sessions.uncapped,
  };
}
