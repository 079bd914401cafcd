/**
 * Finds the text in what a model's server generated, in any protocol. Every string is text unless it is known not to be, so
 * that output in a place that nobody here knows is counted too. docs/spend.md has the rule for users.
 */
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { formatJson } from "../json/exact-json.ts";

export interface Generated {
  /** All of the text, in the order of the fields. */
  text: string;
  /** Images, audio and encrypted content: output whose tokens cannot be told from its bytes. */
  media: number;
}

/** What a member of that name holds; `arguments` is an object of the model's own making. */
type Meaning = "text" | "arguments" | "media" | "nothing";

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ["", "text"],
  ...each("text", "content text thinking partial_json delta refusal summary transcript"),
  ...each("text", "reasoning reasoning_content reasoning_text reasoning_details thinking_blocks"),
  ...each("text", "tool_calls function_call function custom"),
  ...each("arguments", "arguments input parameters env"),
  ...each("media", "data url image_url b64_json partial_image_b64 encrypted_content"),
  // Structure, and settings that are repeated.
  ...each("nothing", "type id item_id object role status phase index format model provider caller namespace"),
  ...each("nothing", "execution server_label server_name created_by container environment"),
  ...each("nothing", "size quality background output_format detail"),
  // Why and how it ended.
  ...each("nothing", "finish_details stop_details stop_sequence matched_stop incomplete_details error usage"),
  // What the server says about the text, or found for it.
  ...each(
    "nothing",
    "annotation annotations citation citations sources logprobs obfuscation timings meta_info",
  ),
]);
const NOTHING_FORM =
  /(?:^|_)(?:id|ids|at|type|index|reason|signatures?|logprobs|metadata)$|_(?:results?|ratings|checks)$/;

/** Members that hold calls, whose `name` the model has written. */
const CALL_MEMBERS: ReadonlySet<string> = new Set(["tool_calls", "function_call", "function", "custom"]);
const CALL_FORM = /(?:_call|tool_use|approval_request)$/;
/** What a call came to: the tool has written it. */
const CALL_RESULTS: ReadonlySet<string> = new Set(["output", "outputs", "results"]);
const OTHER_ROLES: ReadonlySet<unknown> = new Set(["user", "system", "developer", "tool", "function"]);

/** The text of a member, or of a block or an item without a name. */
export function findGenerated(value: unknown, name = ""): Generated {
  const found: Generated = { text: "", media: 0 };
  readMember(found, value, name);
  return found;
}

function readMember(found: Generated, value: unknown, name: string): void {
  if (!isFull(value)) return;
  const meaning = meaningOf(name);
  if (meaning === "nothing") return;
  if (typeof value === "string") {
    if (meaning === "media") found.media += 1;
    else found.text += value;
  } else if (meaning === "arguments") {
    // Calls begin with an empty object where the real one is still to come.
    if (Object.keys(value).length > 0) found.text += formatJson(value);
  } else if (Array.isArray(value)) {
    for (const part of value) readMember(found, part, name);
  } else if (isJsonObject(value) && !isOfOthers(value)) {
    readObject(found, value, name);
  }
}

function readObject(found: Generated, object: JsonObject, name: string): void {
  for (const member in object) {
    const value = object[member];
    if (!isFull(value)) continue;
    if (member === "name" || CALL_RESULTS.has(member)) {
      if ((member === "name") !== isCall(object, name)) continue;
    }
    // The image itself, in the place of a result.
    const isImage = member === "result" && object["type"] === "image_generation_call";
    readMember(found, value, isImage ? "data" : member);
  }
}

/** Whether there can be text in it. */
function isFull(value: unknown): value is string | object {
  return typeof value === "string" ? value !== "" : typeof value === "object" && value !== null;
}

function meaningOf(name: string): Meaning {
  return (
    MEANINGS.get(name) ?? (NOTHING_FORM.test(name) || name.startsWith("content_filter") ? "nothing" : "text")
  );
}

function isCall(object: JsonObject, name: string): boolean {
  const { type } = object;
  if (CALL_MEMBERS.has(name) || "arguments" in object || "input" in object) return true;
  return typeof type === "string" && CALL_FORM.test(type);
}

/** What a tool, a user or the operator has written, and lists of tools. */
function isOfOthers({ type, role }: JsonObject): boolean {
  if (role !== undefined && OTHER_ROLES.has(role)) return true;
  if (typeof type !== "string") return false;
  return type.endsWith("_output") || type.endsWith("tool_result") || type === "mcp_list_tools";
}

function each(meaning: Meaning, names: string): [string, Meaning][] {
  return names.split(" ").map((name) => [name, meaning]);
}
