/** Limits that need attention: reached ones, by window and owner, and those that rejected requests today. */
import {
  describeReached as describeReachedLimit,
  nameLimit,
  nameOwner,
  formatLimitPath,
} from "../../../shared/settings/limit-words.ts";
import { dayAt } from "../../../shared/time/calendar.ts";
import type { LimitSubject } from "../../../shared/contract/pages.ts";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import { formatCount, formatCountOf, formatLimit, formatTime } from "../format.ts";
import { nameReset, limitLevelOf } from "./limit-words.ts";
import { fieldOfOwner } from "./owner-texts.ts";
import type { RecentFindings, StoppedRequests } from "../api/recent-requests.ts";
import type { GroupView, LimitFiguresView, LimitView, OrganizationView } from "./views.ts";

/** Item that needs attention, with the page where it can be resolved. */
export interface Attention {
  readonly level: "bad" | "warn";
  readonly text: string;
  readonly label: string;
  readonly path: string;
}

interface AttentionContext {
  readonly organization: Pick<OrganizationView, "id" | "currency">;
  readonly nowMs: number;
}

export interface LimitAttentionInput extends AttentionContext {
  /** Organization's own limits. */
  readonly limits: readonly LimitFiguresView[];
  /** Groups with their tightest limit. */
  readonly groups: readonly GroupView[];
  readonly recent: RecentFindings;
  /** Names of keys, users and groups by id. */
  readonly names: ReadonlyMap<string, string>;
}

type Kind = LimitFiguresView["kind"];

/** Lists the organization's reached caps or budgets. */
export function listReachedLimits(input: LimitAttentionInput, kind: Kind): readonly Attention[] {
  return input.limits
    .filter((limit) => limit.kind === kind && limitLevelOf(limit) === "reached")
    .map((limit) => describeReached(limit, { name: null, keyId: null, ownerId: null }, input));
}

/** Lists groups whose pool is used up, or exceeds its budget. */
export function listReachedPools(input: LimitAttentionInput, kind: Kind): readonly Attention[] {
  const reached = input.groups.flatMap(({ id, name, tightest_limit: limit }) =>
    limit?.kind === kind && limitLevelOf(limit) === "reached"
      ? [describeReached(limit, { name, keyId: null, ownerId: id }, input)]
      : [],
  );
  if (reached.length < 2) return reached;
  const finding = kind === "cap" ? "have reached a cap" : "are over a budget";
  const text = `${formatCountOf(reached.length, "group")} ${finding}.`;
  const path = `/organizations/${input.organization.id}/groups?sort=-limit&limit_state=reached`;
  return [{ level: levelOf(kind), text, label: "See these groups", path }];
}

interface Named {
  /** Null: the organization. */
  readonly name: string | null;
  /** Null for other scopes than key. */
  readonly keyId: string | null;
  /** Null for other scopes than group. */
  readonly ownerId: string | null;
}

/** Describes a reached limit with its window, amounts and the page where it is changed. */
function describeReached(
  limit: LimitFiguresView,
  { name, keyId, ownerId }: Named,
  context: AttentionContext,
): Attention {
  const { id: organizationId, currency } = context.organization;
  const { scope, period, kind, resets_at: resetsAt } = limit;
  const subject: LimitSubject = { scope, organizationId, keyId, ownerId, period };
  const amount = formatLimit(limit.cents, currency);
  const spent = formatLimit(limit.spent_cents, currency);
  const day = dayAt(context.nowMs).name;
  const reached = describeReachedLimit({ scope, name, period, kind }, { amount, spent, day });
  // A cap of 0 rejects requests even after a reset.
  const until = resetsAt === null || limit.cents === 0 ? "" : ` until ${nameReset(period, resetsAt)}`;
  return {
    level: levelOf(kind),
    text: kind === "cap" ? `${reached} Requests that cost money return 402${until}.` : reached,
    label: kind === "cap" ? "Change this cap" : "Change this budget",
    path: formatLimitPath(subject),
  };
}

/** Describes a reached limit of any owner. */
export function describeReachedOf(limit: LimitView, context: AttentionContext): Attention {
  const { scope, owner } = limit;
  const isOwner = scope === "user" || scope === "group";
  const ids = { keyId: scope === "key" ? owner.id : null, ownerId: isOwner ? owner.id : null };
  return describeReached(limit, { name: owner.name, ...ids }, context);
}

function levelOf(kind: Kind): Attention["level"] {
  return kind === "cap" ? "bad" : "warn";
}

/** Lists limits that rejected requests today, most rejections first. */
export function listStops(input: LimitAttentionInput): readonly Attention[] {
  const { stopped, isWhole } = input.recent;
  if (stopped.length < 2) return stopped.map((stop) => describeStop(stop, input));
  const blocked = stopped.reduce((sum, { count }) => sum + count, 0);
  const text = `Today ${stopped.length} caps blocked ${isWhole ? "" : "at least "}${formatCountOf(blocked, "request")}.`;
  return [{ level: "warn", text, label: "See these requests", path: pathOf(input, { status: "402" }) }];
}

function describeStop(stop: StoppedRequests, input: LimitAttentionInput): Attention {
  const { scope, ownerId, period, errorCode, count, lastMs } = stop;
  const owner = nameOwner({ scope, name: ownerId === null ? null : (input.names.get(ownerId) ?? ownerId) });
  const last = formatTime(new Date(lastMs).toISOString()).slice("2026-11-21 ".length);
  const requests =
    count === 1
      ? "1 request was"
      : `${input.recent.isWhole ? "" : "at least "}${formatCount(count)} requests were`;
  return {
    level: "warn",
    text: `Today ${requests} blocked by the ${nameLimit({ period, kind: "cap" })} of ${owner}, the last at ${last}.`,
    label: "See these requests",
    path: pathOf(input, { status: errorCode, ...filterOf(scope, ownerId) }),
  };
}

function filterOf(scope: LimitScope, ownerId: string | null): Readonly<Record<string, string>> {
  if (ownerId === null || scope === "organization") return {};
  return { [scope === "key" ? "key_id" : fieldOfOwner(scope)]: ownerId };
}

/** Returns the path of today's matching requests. */
function pathOf(
  { organization, nowMs }: AttentionContext,
  filters: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ ...filters, from: dayAt(nowMs).name });
  return `/organizations/${organization.id}/requests?${query.toString()}`;
}
