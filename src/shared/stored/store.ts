/**
 * Interface of the gateway's shared state, in plain values; the operations are documented with their subject
 * in this directory. `src/data-path/store` implements it in Redis; no code outside of that names a Redis key.
 * Each operation is one atomic step on one organization's slot unless its comment says otherwise.
 * While Redis is unreachable every operation rejects quickly: there is no queue and no retry. The caller
 * decides what follows. A rejected write may or may not have been executed: `openRecord`, `charge`, `renew`,
 * `close` and `forget` may be repeated, `admit` must not.
 * Units: spend is microcents as bigint, caps and budgets are whole cents, times are Unix milliseconds.
 */
import type { AdmissionStore } from "./admission.ts";
import type { AlertStore, AlertWatchStore, DeliveryStore } from "./alerts.ts";
import type { AuditStore } from "./audit.ts";
import type {
  DeletedOrganizationStore,
  KeyStore,
  OrganizationStore,
  ProviderKeyStore,
} from "./management.ts";
import type { MemoryStore } from "./memory.ts";
import type { OwnerStore } from "./owners.ts";
import type { RecentRequestStore, UsageStore } from "./reporting.ts";
import type { SessionStore } from "./sessions.ts";
import type { RequestStore, SpendFall } from "./settlement.ts";
import type { TokenStore } from "./tokens.ts";
import type { WindowStore } from "./windows.ts";

export interface Store
  extends
    AdmissionStore,
    RequestStore,
    RecentRequestStore,
    UsageStore,
    WindowStore,
    OrganizationStore,
    DeletedOrganizationStore,
    KeyStore,
    ProviderKeyStore,
    OwnerStore,
    TokenStore,
    SessionStore,
    AuditStore,
    AlertStore,
    AlertWatchStore,
    DeliveryStore,
    MemoryStore {
  /** Number of alerts that commands of this process have fired since it started. */
  firedAlerts(): number;
  /** Number of times charges and corrections of this process lowered the displayed spend. */
  spendFalls(): Readonly<Record<SpendFall, number>>;
  /** Number of this process's requests whose session had no cap because their key has too many sessions. */
  uncappedSessions(): number;
}
