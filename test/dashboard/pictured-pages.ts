/** Pages that have a picture, by its name: every page of the dashboard's table of routes, and those without a session. */
import { STATUS_PAGE } from "../../src/shared/contract/pages.ts";
import { createPart, formatProgramPage } from "../../src/shared/contract/program-sign-in.ts";

type Reader = "member" | "key" | "nobody";

export interface PicturedPage {
  /** Path as in the table of routes. */
  readonly route: string;
  /** Parameters and fragment, from "?" on; `{model}` is a model of the sample. */
  readonly query?: string;
  /** Omitted: the operator. */
  readonly as?: Reader;
  /** Has the parts of another page, or when empty those that it always has: looked at then at night only. */
  readonly repeats?: "always" | "empty";
}

const IN = "/organizations/:organization";

export const PICTURED_PAGES: Readonly<Record<string, PicturedPage>> = {
  overview: { route: IN },
  usage: { route: `${IN}/usage` },
  "usage-by-group": { route: `${IN}/usage`, query: "?by=group", repeats: "always" },
  latency: { route: `${IN}/usage`, query: "?metric=latency&by=model", repeats: "empty" },
  statement: { route: `${IN}/statement` },
  corrections: { route: `${IN}/usage/corrections` },
  alerts: { route: `${IN}/alerts` },
  alert: { route: `${IN}/alerts/:alert` },
  keys: { route: `${IN}/keys` },
  "new-key": { route: `${IN}/keys/new`, repeats: "empty" },
  key: { route: `${IN}/keys/:key` },
  users: { route: `${IN}/users` },
  user: { route: `${IN}/users/:user` },
  groups: { route: `${IN}/groups` },
  group: { route: `${IN}/groups/:group` },
  tokens: { route: `${IN}/tokens` },
  sessions: { route: `${IN}/sessions` },
  requests: { route: `${IN}/requests` },
  request: { route: `${IN}/requests/:request` },
  models: { route: `${IN}/models`, repeats: "empty" },
  model: { route: `${IN}/use`, query: "?model=acme%2Fecho-large" },
  upstream: { route: `${IN}/use`, query: "?upstream=vllm-east", repeats: "always" },
  tag: { route: `${IN}/use`, query: "?tag=feature%3Dcheckout", repeats: "always" },
  "try-it": { route: `${IN}/try`, repeats: "empty" },
  settings: { route: `${IN}/settings`, repeats: "empty" },
  "new-webhook": { route: `${IN}/settings/webhooks/new`, repeats: "empty" },
  webhook: { route: `${IN}/settings/webhooks/:webhook`, repeats: "empty" },
  audit: { route: `${IN}/audit` },
  organizations: { route: "/organizations" },
  "deleted-organizations": { route: "/organizations/deleted" },
  spend: { route: "/organizations/spend" },
  system: { route: "/system", repeats: "empty" },
  "operators-sessions": { route: "/sessions", repeats: "always" },
  own: { route: `${IN}/me`, as: "member" },
  "own-key": { route: `${IN}/me`, as: "key" },
  "own-requests": { route: `${IN}/me/requests`, as: "member", repeats: "always" },
  "own-request": { route: `${IN}/me/requests/:ownRequest`, as: "member", repeats: "always" },
  "command-line": {
    route: "/command-line",
    query: formatProgramPage({ challenge: createPart(), port: 50_000, state: createPart() }).replace(
      /^[^?]*/,
      "",
    ),
    as: "member",
    repeats: "empty",
  },
  "sign-in": { route: "/sign-in", as: "nobody" },
  status: { route: STATUS_PAGE, as: "nobody" },
  errors: { route: "/errors", as: "nobody" },
};

/** Names of the files in docs/images/pages. */
export const SHEETS: readonly string[] = [...Object.keys(PICTURED_PAGES), "broken"];
