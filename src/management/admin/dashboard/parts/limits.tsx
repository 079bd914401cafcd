/** *Spend against limits*: every limit that applies to an owner, with its spend. */
import type { Child } from "hono/jsx";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import { capitalize } from "../../../../shared/text/capitalize.ts";
import { describeWindow } from "../../../../shared/time/periods.ts";
import type { LimitScope } from "../../../../shared/stored/decision.ts";
import { formatCountOf, formatLimit } from "../../format.ts";
import { describeReachedOf } from "../limit-attention.ts";
import { describeLimitLevel, describeWait, formatShare, nameReset, limitLevelOf } from "../limit-words.ts";
import type { OrganizationPageCall } from "../page.ts";
import { OWNER_CALLS } from "../settings-page.tsx";
import type { LimitListView, LimitView } from "../views.ts";
import { LimitBar } from "./charts.tsx";
import { Section } from "./layout.tsx";
import { Time } from "./inline.tsx";

/** Texts for owners without limits of their own. */
const PURPOSES: Readonly<Record<LimitScope, string>> = {
  key: "This API key has no limits of its own. A limit bounds a single build or laptop: set 5.00 a day as its hard cap, under Limits.",
  user: "This user has no limits of its own. A limit bounds all API keys of a person together: set 20.00 a week as its hard cap, under Limits.",
  group:
    "This group has no limits of its own. Its members share a limit: set 2000.00 a month as its hard cap, under Limits. Limits of each member bound each of them separately.",
  organization:
    "No limits for all API keys together. A limit bounds the spend of the whole organization: set 500.00 a week as its hard cap, under Limits.",
};

/** Reads the limits of the page's owner from the API. */
export async function readLimits(page: OrganizationPageCall, scope: LimitScope): Promise<LimitListView> {
  const { body } = await page.api(`GET ${OWNER_CALLS[scope]}/limits` as const);
  return body;
}

/** Caps that block requests now, also those of the owner's group and organization: each with the field that changes it. */
export function ReachedCaps({ page, limits }: Pick<LimitsProps, "page" | "limits">) {
  const reached = limits.data.filter((limit) => limit.kind === "cap" && limitLevelOf(limit) === "reached");
  return (
    <>
      {reached.map((limit) => {
        const { text, label, path } = describeReachedOf(limit, page);
        return (
          <p class="notice bad">
            {text}{" "}
            <strong>
              <a href={path}>{page.canChange ? label : "See this cap"}</a>
            </strong>
          </p>
        );
      })}
    </>
  );
}

export interface LimitsProps {
  readonly page: OrganizationPageCall;
  /** Scope of the page's owner. */
  readonly scope: LimitScope;
  readonly limits: LimitListView;
}

export function SpendAgainstLimits({ page, scope, limits: { data, time } }: LimitsProps) {
  const hasOwn = data.some((limit) => limit.scope === scope);
  return (
    <Section id="spend-against-limits" title="Spend against limits">
      {hasOwn ? null : <p class="card empty">{PURPOSES[scope]}</p>}
      {data.length === 0 ? null : (
        <ul class="limits">
          {data.map((limit) => (
            <LimitCard page={page} scope={scope} limit={limit} nowMs={Date.parse(time)} />
          ))}
        </ul>
      )}
    </Section>
  );
}

interface LimitCardProps extends Omit<LimitsProps, "limits"> {
  readonly limit: LimitView;
  readonly nowMs: number;
}

function LimitCard({ page, scope, limit, nowMs }: LimitCardProps) {
  const { currency } = page.organization;
  const { period, kind, cents, spent_cents: spent, remaining_cents: remaining } = limit;
  const { words, level } = describeLimitLevel(limit);
  const day = new Date(nowMs).toISOString().slice(0, 10);
  return (
    <li class="card">
      <h3>
        {capitalize(labelLimit(limit))} <span class={`state ${level}`}>{words}</span>
      </h3>
      <p class="counts">
        <Counted page={page} isOwn={limit.scope === scope} limit={limit} />
      </p>
      <LimitBar limit={limit} currency={currency} />
      <p>
        <strong>{formatLimit(spent, currency)}</strong> of {formatLimit(cents, currency)} (
        {formatShare(limit)}) {describeWindow(period, day)}
        {remaining === 0 && kind === "cap" ? ": requests that cost money return 402" : ""}
        {remaining === 0 ? "" : `; ${formatLimit(remaining, currency)} left`}
      </p>
      <Raised limit={limit} currency={currency} />
      <p class="quiet">
        <Reset limit={limit} nowMs={nowMs} />
      </p>
    </li>
  );
}

/** Active increase of a limit, and its end. */
function Raised({ limit, currency }: { limit: LimitView; currency: string }) {
  if (limit.raises.length === 0) return null;
  const base = formatLimit(limit.cents - limit.raised_cents, currency);
  return (
    <p>
      raised from {base}{" "}
      {limit.raises.map(({ add_cents: cents, expires_at: until }, index) => (
        <>
          {index === 0 ? "" : ", "}by {formatLimit(cents, currency)} until <Time at={until} />
        </>
      ))}
    </p>
  );
}

function Reset({ limit, nowMs }: { limit: LimitView; nowMs: number }) {
  const { period, resets_at: at } = limit;
  if (at === null) return <>never resets</>;
  return (
    <>
      resets{" "}
      <time datetime={at} class="whole">
        {nameReset(period, at)}
      </time>
      , {describeWait(Date.parse(at), nowMs)}
    </>
  );
}

interface CountedProps {
  readonly page: OrganizationPageCall;
  /** True for the page's owner, which needs no link. */
  readonly isOwn: boolean;
  readonly limit: LimitView;
}

function Counted({ page, isOwn, limit }: CountedProps) {
  const { scope, owner, member_of: memberOf } = limit;
  const name = (
    <Named path={isOwn ? null : pathOf(page, scope, owner.id)}>
      <bdi>{owner.name}</bdi>
    </Named>
  );
  if (scope === "key") return <>the key {name} only</>;
  if (scope === "organization") return <>all keys of {name}</>;
  if (scope === "group") {
    const users = formatCountOf(owner.user_count ?? 0, "user");
    const keys = formatCountOf(owner.key_count ?? 0, "key");
    return (
      <>
        the pool of all in {name}: {users}, {keys} of its own
      </>
    );
  }
  if (memberOf === null) return <>all keys of {name}</>;
  const from = pathOf(page, memberOf.scope, memberOf.id);
  return (
    <>
      all keys of {name}, as each {memberOf.scope === "group" ? "member of" : "user without a group in"}{" "}
      <Named path={from}>
        <bdi>{memberOf.name}</bdi>
      </Named>
    </>
  );
}

function Named({ path, children }: { path: string | null; children?: Child }) {
  return path === null ? <>{children}</> : <a href={path}>{children}</a>;
}

function pathOf({ base }: OrganizationPageCall, scope: LimitScope, id: string): string {
  return scope === "organization" ? `${base}/settings` : `${base}/${scope}s/${id}`;
}
