/**
 * What the gateway asks of its shared state, in plain values; the operations stand with their subject in `types/`.
 * Behind it stands Redis (`redis-store.ts`); nobody outside this folder names a Redis key. Each operation is one atomic
 * step on one organization's slot unless it says otherwise.
 *
 * When Redis is unreachable every operation rejects (fast: no queue, nothing is sent again); what that means is decided
 * by the caller. A rejected write may or may not have happened: `hold`, `charge`, `renew`, `close` and `forget` may be
 * repeated, `admit` must not.
 *
 * Units: money spent is microcents as bigint, caps and budgets are whole cents, times are Unix milliseconds.
 */
import type { AdmissionStore } from "./types/admission.ts";
import type { AlertStore, DeliveryStore } from "./types/alerts.ts";
import type { AuditStore } from "./types/audit.ts";
import type {
  DeletedOrganizationStore,
  KeyStore,
  OrganizationStore,
  ProviderKeyStore,
} from "./types/management.ts";
import type { MemoryStore } from "./types/memory.ts";
import type { OwnerStore } from "./types/owners.ts";
import type { RecentRequestStore, UsageStore } from "./types/reporting.ts";
import type { SessionStore } from "./types/sessions.ts";
import type { RequestStore, SpendFall } from "./types/settlement.ts";
import type { TokenStore } from "./types/tokens.ts";
import type { WindowStore } from "./types/windows.ts";

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
    DeliveryStore,
    MemoryStore {
  /** Alerts that the commands of this process have fired since it began. */
  firedAlerts(): number;
  /** How often spend as it is shown went down by what this process charged and corrected. */
  spendFalls(): Readonly<Record<SpendFall, number>>;
  /** Requests of this process whose session had no cap, since its key has too many. */
  uncappedSessions(): number;
}
