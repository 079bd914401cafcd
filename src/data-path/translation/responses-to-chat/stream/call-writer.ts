import { isJsonObject } from "../../../../shared/text/json-object.ts";
import { tryParseJsonText } from "../../json/parse-json-text.ts";
import type { CallItem, ItemStatus } from "../response.ts";
import type { ToolReference } from "../tool-table.ts";
import { parseToolInput } from "../../upstream/tool-input.ts";
import { CollectedText } from "./collected-text.ts";
import type { ItemContext, OpenItem } from "./open-item.ts";

/** A call as its item describes it. */
export interface StartedCall {
  readonly callId: string;
  readonly tool: ToolReference;
}

/**
 * Writes one call. Arguments of a function are streamed unchanged. The text of a custom tool, which is wrapped in an
 * object here, and the arguments of a search are written at the end.
 */
export class CallWriter implements OpenItem {
  readonly #context: ItemContext;
  readonly #call: StartedCall;
  readonly #arguments: CollectedText;

  constructor(context: ItemContext, call: StartedCall) {
    this.#context = context;
    this.#call = call;
    this.#arguments = new CollectedText(context.budget);
    context.emit({
      type: "response.output_item.added",
      output_index: context.outputIndex,
      item: this.#format("in_progress", ""),
    });
  }

  /** Writes the next piece of the arguments; never empty. */
  write(json: string): void {
    this.#arguments.append(json);
    if (this.#call.tool.kind !== "function") return;
    this.#context.emit({ type: "response.function_call_arguments.delta", ...this.#place, delta: json });
  }

  close(status: ItemStatus): CallItem {
    const { kind, name } = this.#call.tool;
    // Clients show the deltas and run the item, so both must be equal.
    if (kind === "function" && this.#arguments.bytes.byteLength === 0) this.write("{}");
    const args = this.#arguments.toString();
    const { emit } = this.#context;
    if (kind === "function") {
      emit({ type: "response.function_call_arguments.done", ...this.#place, arguments: args, name });
    } else if (kind === "custom") {
      const input = unwrapInput(args);
      if (input !== "") emit({ type: "response.custom_tool_call_input.delta", ...this.#place, delta: input });
      emit({ type: "response.custom_tool_call_input.done", ...this.#place, input });
    }
    return this.#format(status, args);
  }

  abandon(): CallItem {
    return this.#format("incomplete", this.#arguments.toString());
  }

  get #place() {
    return { item_id: this.#context.id, output_index: this.#context.outputIndex };
  }

  #format(status: ItemStatus, args: string): CallItem {
    const { callId, tool } = this.#call;
    const { id } = this.#context;
    const { kind, namespace, name } = tool;
    if (kind === "tool_search") {
      return {
        id,
        type: "tool_search_call",
        execution: "client",
        call_id: callId,
        arguments: parseToolInput(args),
        status,
      };
    }
    const common = { call_id: callId, name, ...(namespace !== null && { namespace }) };
    if (kind === "custom") {
      return { id, type: "custom_tool_call", ...common, input: unwrapInput(args), status };
    }
    return { id, type: "function_call", ...common, arguments: args, status };
  }
}

/**
 * Returns the text of a custom tool's call: `input`, or the only text of the object, or the arguments themselves if
 * the model did not wrap them.
 */
function unwrapInput(args: string): string {
  const parsed = tryParseJsonText(args);
  if (typeof parsed === "string") return parsed;
  if (!isJsonObject(parsed)) return args;
  const { input } = parsed;
  if (typeof input === "string") return input;
  const values = Object.values(parsed);
  if (values.length === 0) return "";
  return values.length === 1 && typeof values[0] === "string" ? values[0] : args;
}
