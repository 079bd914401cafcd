/** Inline elements: links, states, times. */
import type { KeyView, OrganizationView, RequestView } from "../views.ts";
import { describeState } from "../../../../shared/settings/state.ts";
import { formatExactTime, formatTime } from "../../format.ts";

interface OwnerLinkProps {
  readonly base: string;
  readonly kind: "keys" | "users" | "groups";
  readonly owner: { readonly id: string; readonly name: string };
}

export function OwnerLink({ base, kind, owner }: OwnerLinkProps) {
  return (
    <a href={`${base}/${kind}/${owner.id}`}>
      <bdi>{owner.name}</bdi>
    </a>
  );
}

/** Text whose words in backticks are shown as code. */
export function Prose({ text }: { readonly text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))}</>;
}

/** Things with a page of their use, by the name of the filter that finds their requests. */
export const USE_FILTERS = { model: "Model", upstream: "Upstream", tag: "Tag", session: "Session" } as const;
export type UseFilter = keyof typeof USE_FILTERS;

/** Leads to the use of a model, an upstream, a tag ("team=search") or a session. */
export function UseLink({ base, filter, value }: { base: string; filter: UseFilter; value: string }) {
  return (
    <a href={`${base}/use?${new URLSearchParams({ [filter]: value }).toString()}`}>
      <bdi>{value}</bdi>
    </a>
  );
}

/** Key in a list, with its visible characters. */
export function KeyName({ base, apiKey }: { base: string; apiKey: KeyView }) {
  return (
    <>
      <OwnerLink base={base} kind="keys" owner={apiKey} />
      <span class="below code">{apiKey.display}</span>
    </>
  );
}

const LEVELS = { good: "good", warning: "warn", bad: "bad", off: "off" } as const;

/** Reason why requests of a key, of an organization or of a user's keys are rejected, or that they are served. */
export function State({ state }: { state: KeyView["state"] | OrganizationView["state"] }) {
  const { words, level } = describeState(state);
  return <span class={`state ${LEVELS[level]}`}>{words}</span>;
}

/** Formats "402 hard_cap_reached". */
export function RequestStatus({ request }: { request: Pick<RequestView, "status" | "error_code"> }) {
  const { status, error_code: code } = request;
  const level = status === null || status >= 400 || code !== null ? "bad" : "good";
  return (
    <>
      <span class={`state ${level}`}>{status ?? "lost"}</span>
      {code === null ? null : <span class="reason"> {code}</span>}
    </>
  );
}

interface TimeProps {
  /** RFC 3339 or Unix milliseconds. */
  readonly at: string | number;
  /** Show seconds. */
  readonly exact?: boolean;
}

/**
 * Formats "2026-11-21 14:03 UTC", with a line break only between day and time. The script adds the reader's
 * own time on hover.
 */
export function Time({ at, exact = false }: TimeProps) {
  const time = new Date(at).toISOString();
  const [day, ...rest] = (exact ? formatExactTime(time) : formatTime(time)).split(" ");
  return (
    <time datetime={time}>
      <span>{day}</span> <span>{rest.join(" ")}</span>
    </time>
  );
}
