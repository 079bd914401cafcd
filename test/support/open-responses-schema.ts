/** What the Open Responses specification demands of a response and of the events of its stream: fields and their types. */
import { z } from "zod";

const OUTPUT_TEXT = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()).optional(),
});

const PART = z.discriminatedUnion("type", [
  OUTPUT_TEXT,
  z.object({ type: z.literal("refusal"), refusal: z.string() }),
  z.object({ type: z.enum(["reasoning_text", "summary_text"]), text: z.string() }),
]);

const ITEM_STATUS = z.enum(["in_progress", "completed", "incomplete"]);

const ITEM = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    id: z.string(),
    status: ITEM_STATUS,
    role: z.literal("assistant"),
    content: z.array(PART),
  }),
  z.object({
    type: z.literal("function_call"),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
    status: ITEM_STATUS,
  }),
  z.object({
    type: z.literal("reasoning"),
    id: z.string(),
    summary: z.array(PART),
    content: z.array(PART).optional(),
    encrypted_content: z.string().nullable().optional(),
  }),
]);

const FUNCTION_TOOL = z.object({
  type: z.literal("function"),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});

const USAGE = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

export const OPEN_RESPONSE = z.object({
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.union([z.string(), z.array(z.unknown())]).nullable(),
  output: z.array(ITEM),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(FUNCTION_TOOL),
  tool_choice: z.union([z.enum(["none", "auto", "required"]), z.object({ type: z.string() })]),
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.object({ type: z.string() }), verbosity: z.string().nullable().optional() }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  usage: USAGE.nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});

const NUMBERED = { sequence_number: z.int() };
const OF_ITEM = { ...NUMBERED, output_index: z.int() };
const OF_CALL = { ...OF_ITEM, item_id: z.string() };
const OF_PART = { ...OF_CALL, content_index: z.int() };

export const OPEN_RESPONSES_EVENT = z.discriminatedUnion("type", [
  z.object({
    type: z.enum([
      "response.created",
      "response.in_progress",
      "response.completed",
      "response.incomplete",
      "response.failed",
    ]),
    ...NUMBERED,
    response: OPEN_RESPONSE,
  }),
  z.object({
    type: z.enum(["response.output_item.added", "response.output_item.done"]),
    ...OF_ITEM,
    item: ITEM,
  }),
  z.object({
    type: z.enum(["response.content_part.added", "response.content_part.done"]),
    ...OF_PART,
    part: PART,
  }),
  z.object({
    type: z.literal("response.output_text.delta"),
    ...OF_PART,
    delta: z.string(),
    logprobs: z.array(z.unknown()).optional(),
  }),
  z.object({
    type: z.literal("response.output_text.done"),
    ...OF_PART,
    text: z.string(),
    logprobs: z.array(z.unknown()).optional(),
  }),
  z.object({ type: z.literal("response.function_call_arguments.delta"), ...OF_CALL, delta: z.string() }),
  z.object({ type: z.literal("response.function_call_arguments.done"), ...OF_CALL, arguments: z.string() }),
]);
