/** What `usage verify` says of the windows of limits. */
import { describeWindow } from "../../shared/time/calendar.ts";
import { cleanText } from "../../shared/text/plain-text.ts";
import type { WindowDifference, WindowVerification } from "../../data-path/request-log/verify-windows.ts";
import type { ObstructedWindows, WindowObstacle } from "../../data-path/store/types/windows.ts";

/** Nothing where no organization counts any. */
export function formatWindows({ organizations, compared, notCompared }: WindowVerification): string {
  if (organizations === 0) return "";
  const head = `Windows of limits: ${compared} of ${organizations} organizations held against the usage rows.\n`;
  const groups = new Map<string, WindowVerification["notCompared"]>();
  for (const one of notCompared) {
    const what = `${formatSpan(one)}: ${OBSTACLES[one.obstacle]}`;
    groups.set(what, [...(groups.get(what) ?? []), one]);
  }
  const lines = [...groups].map(
    ([what, all]) =>
      `Not compared: ${what} (${all.map(({ organizationId }) => organizationId).join(", ")})\n`,
  );
  return head + lines.join("");
}

const OBSTACLES: Readonly<Record<WindowObstacle, string>> = {
  counters_expired: "counters of days are kept for 15 days, of weeks for 22",
  usage_expired: "the usage of a part of it is not kept any more",
  beginning: "what was spent before the first limit is still being added",
};

const WINDOWS = { day: "days", week: "weeks", month: "months", total: "totals" } as const;

function formatSpan({ period, from, to }: ObstructedWindows): string {
  if (from === null || to === null) return WINDOWS[period];
  if (from === to) return `what is counted ${describeWindow(period, from)}`;
  return `${WINDOWS[period]} from ${from} to ${to}`;
}

export function formatWindowDifference(difference: WindowDifference): string {
  const { organizationId, owner, period, window, figure, expected, found } = difference;
  const { scope, id, name } = owner;
  const whose = [scope, name === null ? null : `"${cleanText(name)}"`, id === null ? null : `(${id})`];
  const when = describeWindow(period, window ?? "");
  const subject = [organizationId, ...whose, when].filter((part) => part !== null).join(" ");
  return (
    `  ${subject}: ${figure}: expected ${expected}, found ${found} (${found - expected}); ` +
    "what its limits count is not the sum of its usage rows"
  );
}
