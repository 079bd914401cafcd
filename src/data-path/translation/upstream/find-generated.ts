/**
 * Finds generated text in a model server's output of any protocol. Every string counts as text unless it is known not
 * to be, so that output in unknown places is counted as well. docs/usage-fields.md has the rule for users.
 */
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { formatJson } from "../json/exact-json.ts";

export interface Generated {
  /** All text, in field order. */
  text: string;
  /** Number of images, audio and encrypted parts, whose tokens cannot be estimated from bytes. */
  media: number;
}

/**
 * Meaning of a member's value. `arguments`: an object that the model wrote. `name`: text if it belongs to a call.
 * `result`: a tool's output if it belongs to a call.
 */
type Meaning = "text" | "arguments" | "name" | "result" | "media" | "nothing";

const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  ["", "text"],
  ["name", "name"],
  ...each("result", "output outputs result results"),
  ...each("text", "content text thinking partial_json delta refusal summary transcript"),
  ...each("text", "reasoning reasoning_content reasoning_text reasoning_details thinking_blocks"),
  ...each("text", "tool_calls function_call function custom"),
  ...each("arguments", "arguments input parameters env"),
  ...each("media", "data url image_url b64_json partial_image_b64 encrypted_content"),
  // Structure, and repeated settings.
  ...each("nothing", "type id item_id object role status phase index format model provider caller namespace"),
  ...each("nothing", "execution server_label server_name created_by container environment"),
  ...each("nothing", "size quality background output_format"),
  // Why and how the answer ended.
  ...each(
    "nothing",
    "finish_reason finish_details stop_details stop_sequence matched_stop incomplete_details error usage",
  ),
  // Data about the text, or found for it.
  ...each("nothing", "sources logprobs obfuscation timings meta_info safety_ratings pending_safety_checks"),
  ...each("nothing", "tool_output tool_outputs tool_results search_results code_results browser_results"),
]);
const NOTHING_FORM =
  /^content_filter|(?:^|_)(?:id|ids|at|type|index|(?:finish|stop|end)_reason|signatures?|logprobs|metadata|annotations?|citations?|references)$/;

/** Members that contain calls. */
const CALL_MEMBERS: ReadonlySet<string> = new Set(["tool_calls", "function_call", "function", "custom"]);
const CALL_FORM = /(?:_call|tool_use|approval_request)$/;
const OTHER_ROLES: ReadonlySet<unknown> = new Set(["user", "system", "developer", "tool", "function"]);

const NO_OWNER: JsonObject = Object.freeze({});

/** Finds the text of a member, or of a block or item without a name. */
export function findGenerated(value: unknown, name = ""): Generated {
  if (name === "" && typeof value === "string") return { text: value, media: 0 };
  const found: Generated = { text: "", media: 0 };
  readMember(found, value, name, NO_OWNER);
  return found;
}

/** @param owner The object with this member. @param ownerName Name of the member that holds `owner`. */
function readMember(found: Generated, value: unknown, name: string, owner: JsonObject, ownerName = ""): void {
  if (!mayHaveText(value)) return;
  const meaning = meaningOf(name);
  if (meaning === "nothing") return;
  if (meaning === "name" && !isCall(owner, ownerName)) return;
  if (meaning === "result" && isCall(owner, ownerName)) {
    // The result is an image.
    if (owner["type"] === "image_generation_call") found.media += 1;
  } else if (meaning === "arguments" && typeof value === "object") {
    // Calls begin with an empty object if the real arguments follow.
    if (Object.keys(value).length > 0) found.text += formatJson(value);
  } else if (meaning === "media" && typeof value === "string") {
    found.media += 1;
  } else {
    readText(found, value, name);
  }
}

function readText(found: Generated, value: string | object, name: string): void {
  if (typeof value === "string") {
    found.text += value;
  } else if (Array.isArray(value)) {
    for (const part of value) if (mayHaveText(part)) readText(found, part, name);
  } else if (isJsonObject(value) && !isNotGenerated(value)) {
    for (const member in value) readMember(found, value[member], member, value, name);
  }
}

/** Returns whether the value can contain text. */
export function mayHaveText(value: unknown): value is string | object {
  return typeof value === "string" ? value !== "" : typeof value === "object" && value !== null;
}

function meaningOf(name: string): Meaning {
  return MEANINGS.get(name) ?? (NOTHING_FORM.test(name) ? "nothing" : "text");
}

function isCall(object: JsonObject, name: string): boolean {
  const { type } = object;
  if (CALL_MEMBERS.has(name) || "arguments" in object || "input" in object) return true;
  return typeof type === "string" && CALL_FORM.test(type);
}

/** Returns whether it was written by a tool, a user or the operator, or lists tools. */
function isNotGenerated({ type, role }: JsonObject): boolean {
  if (role !== undefined && OTHER_ROLES.has(role)) return true;
  if (typeof type !== "string") return false;
  return type.endsWith("_output") || type.endsWith("tool_result") || type === "mcp_list_tools";
}

function each(meaning: Meaning, names: string): [string, Meaning][] {
  return names.split(" ").map((name) => [name, meaning]);
}
