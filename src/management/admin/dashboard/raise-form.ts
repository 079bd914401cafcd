/** The form of a temporary raise, which stands beside the settings of its owner: its inputs have names of their own. */
import type { LimitScope } from "../../../data-path/store/types/decision.ts";
import { type Problems, readBody } from "./form.ts";
import { type OrganizationPageCall, type PageAnswer, submit } from "./page.ts";

export const RAISE_INPUTS = {
  period: "raise.period",
  amount: "raise.amount",
  until: "raise.until",
  reason: "raise.reason",
} as const;

/** For the summary of problems. */
export const RAISE_FIELDS: readonly string[] = Object.values(RAISE_INPUTS);

const KINDS = {
  [RAISE_INPUTS.period]: "choice",
  [RAISE_INPUTS.amount]: "amount",
  [RAISE_INPUTS.until]: "time",
  [RAISE_INPUTS.reason]: "text",
} as const;

/** What the API calls the field → its input. */
const INPUT_OF: Readonly<Record<string, string>> = {
  period: RAISE_INPUTS.period,
  add_cents: RAISE_INPUTS.amount,
  expires_at: RAISE_INPUTS.until,
  reason: RAISE_INPUTS.reason,
};

/** What has limits, in the API. */
export const OWNER_CALLS = {
  key: "/api/organizations/{organization}/keys/{key}",
  user: "/api/organizations/{organization}/users/{user}",
  group: "/api/organizations/{organization}/groups/{group}",
  organization: "/api/organizations/{organization}",
} as const satisfies Readonly<Record<LimitScope, string>>;

interface RaisedPage {
  readonly scope: LimitScope;
  /** Of the owner's page. */
  readonly pathOf: (page: OrganizationPageCall) => string;
  /** The owner's page with what is wrong with the form. */
  readonly render: (page: OrganizationPageCall, problems: Problems) => Promise<PageAnswer>;
}

/** What the page of an owner does with its raises. */
export function createRaiseActions({ scope, pathOf, render }: RaisedPage) {
  const owner = OWNER_CALLS[scope];
  return {
    createRaise: (page: OrganizationPageCall): Promise<PageAnswer> =>
      submit({
        send: async () => {
          const { raise } = readBody(page.form, KINDS) as { raise: Record<string, unknown> };
          const { period, amount, until, reason } = raise;
          const body = { period, add_cents: amount, expires_at: until, reason };
          await page.api(`POST ${owner}/raises`, { body });
          return { redirect: `${pathOf(page)}?done=raised` };
        },
        refused: (problems) => render(page, nameInputs(problems)),
      }),
    deleteRaise: async (page: OrganizationPageCall): Promise<PageAnswer> => {
      await page.api(`DELETE ${owner}/raises/{raise}`);
      return { redirect: `${pathOf(page)}?done=raise_deleted` };
    },
  };
}

function nameInputs(problems: Problems): Problems {
  return new Map([...problems].map(([field, problem]) => [INPUT_OF[field] ?? field, problem]));
}
