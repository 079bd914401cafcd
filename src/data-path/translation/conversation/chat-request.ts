/**
 * The chat completion request that a translation creates. `formatJson` omits undefined fields.
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
import type { JsonObject } from "../../../shared/text/json-object.ts";
import type { ReasoningEffort } from "../../../shared/contract/model-profile.ts";
import type { CallFields } from "./parts.ts";

export type ChatContentPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image_url";
      readonly image_url: { readonly url: string; readonly detail?: string | undefined };
    }
  | {
      readonly type: "file";
      readonly file: { readonly filename?: string | undefined; readonly file_data: string };
    };

export interface ChatToolCall extends Partial<CallFields> {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ChatContentPart[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }
  | AssistantMessage;

export interface AssistantMessage extends Partial<CallFields> {
  readonly role: "assistant";
  readonly content: string | null;
  readonly reasoning_content?: string | undefined;
  readonly reasoning?: string | undefined;
  readonly reasoning_details?: readonly JsonObject[] | undefined;
  readonly thinking_blocks?: readonly JsonObject[] | undefined;
  readonly tool_calls?: readonly ChatToolCall[] | undefined;
}

export interface ChatFunction {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict?: true | undefined;
}

export type ChatToolChoice =
  | "auto"
  | "required"
  | "none"
  | { readonly type: "function"; readonly function: { readonly name: string } };

export interface ChatRequestBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly max_tokens?: number | undefined;
  readonly max_completion_tokens?: number | undefined;
  readonly stream?: true | undefined;
  readonly stream_options?:
    | { readonly include_usage: true; readonly continuous_usage_stats?: true | undefined }
    | undefined;
  readonly service_tier?: string | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly top_k?: number | undefined;
  readonly tools?: readonly { readonly type: "function"; readonly function: ChatFunction }[] | undefined;
  readonly tool_choice?: ChatToolChoice | undefined;
  readonly parallel_tool_calls?: false | undefined;
  readonly reasoning_effort?: ReasoningEffort | undefined;
  readonly response_format?: ChatResponseFormat | undefined;
  readonly logprobs?: true | undefined;
  readonly top_logprobs?: number | undefined;
  readonly user?: string | undefined;
  readonly prompt_cache_key?: string | undefined;
  readonly safety_identifier?: string | undefined;
  readonly continue_final_message?: true | undefined;
  readonly add_generation_prompt?: false | undefined;
}

export type ChatResponseFormat =
  | { readonly type: "json_object" }
  | { readonly type: "json_schema"; readonly json_schema: ChatJsonSchema };

export interface ChatJsonSchema {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly strict?: boolean | undefined;
}
