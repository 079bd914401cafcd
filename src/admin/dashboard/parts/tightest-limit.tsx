/** @jsxImportSource hono/jsx */
import { describeStanding, formatShare, nameLimit, standingOf } from "../limit-words.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { GroupView, UserView } from "../views.ts";
import { LimitBar } from "./limit-bar.tsx";

/** What a list of users or groups is to be asked for, so that it has this column. */
export const WITH_TIGHTEST = { include: "tightest_limit" } as const;

type Limited = Pick<UserView | GroupView, "tightest_limit">;

/** A column of a list of users or groups: whose limit is over, and how far the others are. */
export function tightestColumn({ organization: { currency } }: Pick<OrganizationPageCall, "organization">) {
  return {
    label: "tightest limit",
    kind: "wide" as const,
    cell: ({ tightest_limit: limit }: Limited) =>
      limit === null || limit === undefined ? (
        "none"
      ) : (
        <>
          <span class="whole">
            {formatShare(limit)} of the {nameLimit(limit)}
          </span>{" "}
          {standingOf(limit) === "fine" ? null : (
            <span class={`state ${describeStanding(limit).level}`}>{describeStanding(limit).words}</span>
          )}
          <LimitBar limit={limit} currency={currency} />
        </>
      ),
  };
}
