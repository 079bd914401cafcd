import * as z from "zod";
import { requestStatus } from "../../../data-path/limits/reports/request-status.ts";
import { record, timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer, choice, count, moment, tagFilter, textOrNull } from "./fields.ts";
import { filterNames, formerOwnerName, ownerIdFilter } from "./owner.ts";
import { isInStreams, REQUEST_CURSOR } from "../../../data-path/store/requests/cursor.ts";
import { pageFields, pageOf } from "./page.ts";
import { usageTokens } from "./tokens.ts";
import { TIMELINE } from "../../../data-path/store/requests/facts.ts";

const STATUS_EXPECTATION =
  "expected a status such as 402, a class such as 4xx, or an error code such as hard_cap_reached";
const ID_EXPECTATION = "expected a part of a request id: req_, hexadecimal digits and hyphens";

const requestFilters = {
  key_id: z.string().max(100).optional().describe("Only this key's."),
  user_id: ownerIdFilter("user", "Only requests of this user at their admission."),
  group_id: ownerIdFilter("group", "Only requests of this group at their admission."),
  model: z.string().max(200).optional().describe("Only this model's."),
  upstream: z.string().max(200).optional().describe("Only requests sent to this upstream."),
  status: z
    .string()
    .regex(/^(?:[1-5]xx|[0-9]{3}|[a-z][a-z0-9_]{2,63})$/, { error: STATUS_EXPECTATION })
    .optional()
    .meta({
      description: "Only requests with this status, class of statuses or error code.",
      examples: ["402", "5xx", "hard_cap_reached"],
    }),
  tag: tagFilter().optional().describe("Only requests with all of these tags."),
  session: z.string().min(1).max(128).optional().describe("Only requests of this session, by its full name."),
  from: moment("start").optional().describe("Only requests from this time or day."),
  to: moment("end").optional().describe("Only requests before this time, or before the end of this day."),
  id: z
    .string()
    .regex(/^(?:req_)?[0-9a-f-]{1,36}$/, { error: ID_EXPECTATION })
    .optional()
    .describe("Only requests whose id contains this text."),
};

export const requestFilter = record(requestFilters);
export type RequestFilterQuery = z.output<typeof requestFilter>;
export const requestQuery = record({ ...pageFields(REQUEST_CURSOR, isInStreams), ...requestFilters });

export const explainedRequestQuery = record({
  ...requestFilters,
  neighbors: choice(["true", "false"])
    .optional()
    .describe("Whether the response has `neighbors`: of the requests that match the filters."),
});

const milliseconds = () => z.int().nullable();

/** The fields that the key itself can read are in the middle; around them those for its organization only. */
const { object, id, created_at, checks, ...statusFields } = requestStatus.shape;

type Moments = {
  [Name in keyof typeof TIMELINE as (typeof TIMELINE)[Name]["apiName"]]: Name extends "endMs"
    ? z.ZodInt
    : ReturnType<typeof milliseconds>;
};

function createTimelineShape(): Moments {
  const shape = Object.entries(TIMELINE).map(([name, { apiName, about }]) => {
    const schema = name === "endMs" ? z.int() : milliseconds();
    return [apiName, about === null ? schema : schema.describe(about)];
  });
  return Object.fromEntries(shape) as Moments;
}

const requestFields = {
  object,
  id,
  created_at,
  recorded_at: timestamp().describe("End of the request."),
  organization_id: z.string(),
  currency: z.string().describe("Currency of its cost."),
  key_id: z.string(),
  key_name: textOrNull(
    "Name of the API key, also of a deleted one while its figures are kept; null after that.",
  ),
  user_id: textOrNull("User at its admission; null: none, or unknown."),
  user_name: formerOwnerName(),
  group_id: textOrNull("Group at its admission; null: none, or unknown."),
  group_name: formerOwnerName(),
  ...statusFields,
  ...usageTokens(),
  duration_ms: milliseconds().describe("Milliseconds from the admission to the end; null: not measured."),
  first_token_ms: milliseconds().describe(
    "Milliseconds from the admission to the first piece of a streamed response.",
  ),
  timeline: z
    .strictObject(createTimelineShape())
    .nullable()
    .describe("Milliseconds from its admission to each step; null: not reached."),
  pinned_by: textOrNull(
    "Header or field that named the session by which the upstream's server was chosen. `prompt`: system prompt and first user message. Null: not chosen by session.",
    "x-session-id",
  ),
  upstream: z
    .strictObject({
      name: z.string(),
      status: z.int().nullable().describe("Null: no response."),
      cause: textOrNull(
        "Failure at the upstream, in a sentence or in the upstream's words; null: none.",
        "the upstream local refused the connection: nothing listens at its address",
      ),
      envoy_details: textOrNull(
        "Envoy's cause (`response.code_details`); null: the failure isn't Envoy's.",
        "no_healthy_upstream",
      ),
    })
    .nullable()
    .describe("Null: not sent to an upstream."),
  checks,
};

export const recentRequest = answer("Request", requestFields);
export const recentRequestPage = pageOf("RequestPage", recentRequest);

/** Value of a filter and how many of the counted requests have it. */
const counted = z.strictObject({
  value: z.string(),
  name: textOrNull("Name of the key, user or group; null: none, or its figures have expired."),
  requests: count(),
});
const values = (about: string) => z.array(counted).describe(about);

export const requestCounts = answer("RequestCounts", {
  from: timestamp(),
  to: timestamp(),
  step_seconds: count().describe("Length of each stretch of time."),
  data: z
    .array(
      z.strictObject({
        at: timestamp(),
        succeeded: count(),
        rejected: count().describe("With a status of 400 to 499."),
        failed: count().describe("With a status of 500 or more, or broken off."),
      }),
    )
    .describe("One for each stretch of time, oldest first, by the time of the admission."),
  values: z
    .strictObject({
      key_id: values("API keys."),
      user_id: values("Users."),
      group_id: values("Groups."),
      model: values("Models."),
      upstream: values("Upstreams."),
      status: values("Error codes, and the statuses of requests without one."),
      tag: values("Tags, `name=value`."),
      session: values("Sessions."),
    })
    .describe("Values that the counted requests have, the most frequent first, at most 100 each."),
  filter_names: filterNames(),
});

export const explainedRequest = answer("ExplainedRequest", {
  ...requestFields,
  neighbors: z
    .strictObject({
      newer: textOrNull("Id of the request that ended next."),
      older: textOrNull("Id of the request that ended before it."),
    })
    .optional()
    .describe("With `neighbors=true`; each is null if there is none among the next 2,000."),
  key_deleted: z.boolean().describe("Whether the API key was deleted, with its page and limits."),
  user_deleted: z.boolean().describe("Whether the user was deleted, with its page; false without a user."),
  group_deleted: z.boolean().describe("The same for the group."),
  explanation: z
    .strictObject({
      sentence: z.string().describe("End of the request and its reason."),
      remedy: z
        .strictObject({
          actor: z.enum(["client", "upstream", "operator", "gateway"]).describe("Who must act."),
          todo: z.string().describe("Action that the actor must take."),
        })
        .nullable()
        .describe("Envoy's reason for a failure at the upstream; null: none."),
      action: z
        .strictObject({
          label: z.string(),
          path: z.string().describe("Path of the dashboard's page for it."),
          url: textOrNull("URL of that page; null: `dashboard.base_url` isn't set."),
        })
        .nullable()
        .describe("Action that changes the reason; null: none."),
      checks: z.array(z.strictObject({ name: z.string(), passed: z.boolean(), text: z.string() })),
      cost: z
        .strictObject({
          parts: z.array(
            z.strictObject({
              name: z.string(),
              tokens: count().nullable().describe("Null: a fee, a tool, or not counted."),
              uses: count().nullable().describe("Uses of a tool of the model server."),
              price: textOrNull(
                "Per million tokens or per thousand uses; null for what is counted in neither.",
                "3.00",
              ),
              amount: z.string().describe("Tokens or uses times price, exact."),
            }),
          ),
          sum: z.string(),
          charged: z.string().describe("The sum, rounded up to the eighth decimal."),
        })
        .nullable()
        .describe("Null: no price was looked up."),
    })
    .describe("The same in words, as the dashboard and `explain` show it."),
});
