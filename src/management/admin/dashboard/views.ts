/** Types of the management API's responses, from its schemas. */
import type { z } from "zod";
import type { allSpend } from "../schemas/all-spend.ts";
import type { auditPage } from "../api/audit.ts";
import type { catalogPage } from "../api/catalog.ts";
import type { key, keyPage, keyWithSecret } from "../schemas/key.ts";
import type { limitList, ownLimitList, tightestLimit } from "../schemas/limit.ts";
import type { group, user, userPage } from "../schemas/owner.ts";
import type { organization, organizationPage } from "../schemas/organization.ts";
import type { ownUser } from "../schemas/own.ts";
import type {
  explainedRequest,
  recentRequest,
  recentRequestPage,
  requestCounts,
} from "../schemas/requests.ts";
import type { sessionPage } from "../api/sessions.ts";
import type { tokenPage, tokenWithSecret } from "../api/tokens.ts";
import type { statement } from "../schemas/statement.ts";
import type { usage } from "../schemas/usage.ts";

export type OrganizationView = z.output<typeof organization>;
export type OwnUserView = z.output<typeof ownUser>;
export type OrganizationPageView = z.output<typeof organizationPage>;
export type KeyView = z.output<typeof key>;
export type KeyWithSecretView = z.output<typeof keyWithSecret>;
export type KeyPageView = z.output<typeof keyPage>;
export type UserView = z.output<typeof user>;
export type UserPageView = z.output<typeof userPage>;
export type GroupView = z.output<typeof group>;
export type LimitListView = z.output<typeof limitList>;
export type LimitView = LimitListView["data"][number];
/** Figures of a limit in a list, and of the tightest one. */
export type LimitFiguresView = z.output<typeof tightestLimit>;
export type OwnLimitView = z.output<typeof ownLimitList>["data"][number];
export type ListTotalView = NonNullable<KeyPageView["totals"]>[number];
export type RaiseView = LimitView["raises"][number];
export type AllSpendView = z.output<typeof allSpend>;
export type StatementView = z.output<typeof statement>;
export type UsageView = z.output<typeof usage>;
export type UsageRowView = UsageView["data"][number];
export type RequestView = z.output<typeof recentRequest>;
export type ExplainedRequestView = z.output<typeof explainedRequest>;
export type RequestPageView = z.output<typeof recentRequestPage>;
export type RequestCountsView = z.output<typeof requestCounts>;
export type AuditPageView = z.output<typeof auditPage>;
export type CatalogView = z.output<typeof catalogPage>;
export type SessionPageView = z.output<typeof sessionPage>;
export type TokenPageView = z.output<typeof tokenPage>;
export type TokenWithSecretView = z.output<typeof tokenWithSecret>;
