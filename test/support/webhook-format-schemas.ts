/**
 * What Slack, Teams and PagerDuty publish of the bodies that they take, as far as the gateway uses it: fields, types and
 * limits, and no field that is not theirs. Written down from the documents that are named, as they were in November 2026.
 *
 * On 2026-11-22 the bodies of the three formats were also held against what their makers publish for programs, which is
 * no part of this repository, and each took all of them: Adaptive Cards' JSON schema 1.5.0 (microsoft/AdaptiveCards at
 * 644d933) and the parser of `adaptivecards` 3.0.6; PagerDuty's OpenAPI document of the Events API v2
 * (PagerDuty/api-schema at 91a06fb); `@slack/types` 3.2.0. Their limits of length are in the documents alone.
 */
import { z } from "zod";

/** https://docs.slack.dev/reference/block-kit/composition-objects/text-object */
const slackText = (type: "plain_text" | "mrkdwn", maximum: number) =>
  z.strictObject({
    type: z.literal(type),
    text: z.string().min(1).max(maximum),
    ...(type === "plain_text" ? { emoji: z.boolean().optional() } : { verbatim: z.boolean().optional() }),
  });

/** https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const slackButton = z.strictObject({
  type: z.literal("button"),
  text: slackText("plain_text", 75),
  url: z.url().max(3000),
  action_id: z.string().max(255).optional(),
});

/** https://docs.slack.dev/reference/block-kit/blocks and https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
export const slackMessage = z.strictObject({
  text: z.string().min(1).max(40_000),
  blocks: z
    .array(
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("header"), text: slackText("plain_text", 150) }),
        z.strictObject({ type: z.literal("section"), text: slackText("mrkdwn", 3000) }),
        z.strictObject({ type: z.literal("actions"), elements: z.array(slackButton).min(1).max(25) }),
      ]),
    )
    .max(50),
});

/** https://adaptivecards.io/schemas/adaptive-card.json, 1.5 */
const adaptiveCard = z.strictObject({
  $schema: z.url(),
  type: z.literal("AdaptiveCard"),
  version: z.enum(["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"]),
  body: z
    .array(
      z.strictObject({
        type: z.literal("TextBlock"),
        text: z.string(),
        wrap: z.boolean().optional(),
        size: z.enum(["default", "small", "medium", "large", "extraLarge"]).optional(),
        weight: z.enum(["default", "lighter", "bolder"]).optional(),
      }),
    )
    .min(1),
  actions: z.array(z.strictObject({ type: z.literal("Action.OpenUrl"), title: z.string(), url: z.url() })),
});

/** https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using; 28 KB at most. */
export const teamsMessage = z
  .strictObject({
    type: z.literal("message"),
    attachments: z
      .array(
        z.strictObject({
          contentType: z.literal("application/vnd.microsoft.card.adaptive"),
          contentUrl: z.null(),
          content: adaptiveCard,
        }),
      )
      .length(1),
  })
  .refine((message) => Buffer.byteLength(JSON.stringify(message)) <= 28 * 1024);

/** https://developer.pagerduty.com/docs/send-alert-event; 512 KB at most. */
export const pagerDutyEvent = z
  .strictObject({
    routing_key: z.string().length(32),
    event_action: z.enum(["trigger", "acknowledge", "resolve"]),
    dedup_key: z.string().max(255),
    payload: z.strictObject({
      summary: z.string().min(1).max(1024),
      source: z.string().min(1),
      severity: z.enum(["critical", "error", "warning", "info"]),
      timestamp: z.iso.datetime().optional(),
      component: z.string().optional(),
      group: z.string().optional(),
      class: z.string().optional(),
      custom_details: z.record(z.string(), z.unknown()).optional(),
    }),
    client: z.string().optional(),
    client_url: z.url().optional(),
    links: z.array(z.strictObject({ href: z.url(), text: z.string() })).optional(),
  })
  .refine((event) => Buffer.byteLength(JSON.stringify(event)) <= 512 * 1024);
