import * as z from "zod";
import { requestStatus } from "../../limits/request-status.ts";
import { record, timestamp } from "../../settings/input-schemas.ts";
import { answer, count, moment, tagFilter, textOrNull } from "./fields.ts";
import { formerOwnerName, ownerIdFilter } from "./owner.ts";
import { isInStreams, pageFields, pageOf } from "./page.ts";
import { usageTokens } from "./tokens.ts";
import { TIMELINE } from "../../store/requests/facts.ts";

/** Two places in two streams, or the end of one: what the store gives as `next`. */
const REQUEST_CURSOR = /^(?:[0-9]{1,20}-[0-9]{1,20}|-)_(?:[0-9]{1,20}-[0-9]{1,20}|-)$/;

const STATUS_EXPECTATION =
  "expected a status such as 402, a class such as 4xx, or an error code such as hard_cap_reached";
const ID_EXPECTATION = "expected a part of a request id: req_, hexadecimal digits and hyphens";

export const requestQuery = record({
  ...pageFields(REQUEST_CURSOR, isInStreams),
  key_id: z.string().max(100).optional().describe("Only this key's."),
  user_id: ownerIdFilter("user", "Only those that were this user's when they were admitted."),
  group_id: ownerIdFilter("group", "Only those that counted to this group when they were admitted."),
  model: z.string().max(200).optional().describe("Only this model's."),
  upstream: z.string().max(200).optional().describe("Only those that were handed to this upstream."),
  status: z
    .string()
    .regex(/^(?:[1-5]xx|[0-9]{3}|[a-z][a-z0-9_]{2,63})$/, { error: STATUS_EXPECTATION })
    .optional()
    .meta({
      description: "Only those with this status, class of statuses or error code.",
      examples: ["402", "5xx", "hard_cap_reached"],
    }),
  tag: tagFilter().optional().describe("Only those with all of these tags."),
  session: z.string().min(1).max(128).optional().describe("Only those of this session, by its whole name."),
  from: moment("start").optional().describe("Only those that came then or later."),
  to: moment("end").optional().describe("Only those that came before; of a day, its end."),
  id: z
    .string()
    .regex(/^(?:req_)?[0-9a-f-]{1,36}$/, { error: ID_EXPECTATION })
    .optional()
    .describe("Only those whose id contains this."),
});
export type RequestQuery = z.output<typeof requestQuery>;

const milliseconds = () => z.int().nullable();

/** What the key itself may ask of it stands in the middle; around it what only its organization may know. */
const { object, id, created_at, checks, ...told } = requestStatus.shape;

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
  recorded_at: timestamp().describe("When it ended."),
  organization_id: z.string(),
  key_id: z.string(),
  key_name: textOrNull("Of a deleted key too, as long as its figures are kept; null after that."),
  user_id: textOrNull("Whose it was when it was admitted. Null: no user's, or not known."),
  user_name: formerOwnerName(),
  group_id: textOrNull("That it counted to when it was admitted. Null: to none, or not known."),
  group_name: formerOwnerName(),
  ...told,
  ...usageTokens(),
  duration_ms: milliseconds().describe("From the admission to the end; null: not measured."),
  first_token_ms: milliseconds().describe("From the admission to the first piece of a streamed answer."),
  timeline: z
    .strictObject(createTimelineShape())
    .nullable()
    .describe("How far it came, in milliseconds from its admission on; null where it did not come so far."),
  upstream: z
    .strictObject({
      name: z.string(),
      status: z.int().nullable().describe("Null: it never answered."),
      cause: textOrNull(
        "What went wrong there, if anything, in a sentence or in the upstream's own words.",
        "the upstream local refused the connection: nothing listens at its address",
      ),
      envoy_details: textOrNull(
        "Envoy's own words for the cause (`response.code_details`); null: it is not from Envoy.",
        "no_healthy_upstream",
      ),
    })
    .nullable()
    .describe("Null: it was not handed to one."),
  checks,
};

export const recentRequest = answer("Request", requestFields);
export const recentRequestPage = pageOf("RequestPage", recentRequest);

export const explainedRequest = answer("ExplainedRequest", {
  ...requestFields,
  key_deleted: z.boolean().describe("The key is gone, and with it its page and its limits."),
  user_deleted: z.boolean().describe("The user is gone, and with it its page; false where there is none."),
  group_deleted: z.boolean().describe("The same of the group."),
  explanation: z
    .strictObject({
      sentence: z.string().describe("How it ended, and why."),
      remedy: z
        .strictObject({
          actor: z.enum(["client", "upstream", "operator", "gateway"]).describe("Who must act."),
          todo: z.string().describe("What that one does."),
        })
        .nullable()
        .describe("Not null: Envoy says why it failed at its upstream."),
      action: z
        .strictObject({
          label: z.string(),
          path: z.string().describe("Of the dashboard's page where it is done."),
          url: textOrNull("That page's address; null: the operator has set no `dashboard.base_url`."),
        })
        .nullable()
        .describe("What can be done about it."),
      checks: z.array(z.strictObject({ name: z.string(), passed: z.boolean(), text: z.string() })),
      cost: z
        .strictObject({
          parts: z.array(
            z.strictObject({
              name: z.string(),
              tokens: count()
                .nullable()
                .describe("Null: a fee, a tool, or what the record keeps no count of."),
              uses: count().nullable().describe("Of a tool that ran at the model server."),
              price: textOrNull(
                "Per million tokens or per thousand uses; null for what is counted in neither.",
                "3.00",
              ),
              amount: z.string().describe("Tokens or uses times price, to the last digit."),
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
