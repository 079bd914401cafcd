/**
 * Schemas of tools that Anthropic's models know by heart and the client runs: bash, text editor, memory. Other models
 * need the schema. Inputs as documented under "Tool use" in Anthropic's documentation.
 */
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ChatFunction } from "../../conversation/chat-request.ts";

/** Editor versions with `undo_edit`. */
const EDITORS_WITH_UNDO: ReadonlySet<string> = new Set(["text_editor_20241022", "text_editor_20250124"]);
const NEWER_EDITOR_NAME = "str_replace_based_edit_tool";
const OLDER_EDITOR_NAME = "str_replace_editor";

const PATH = { type: "string", description: "Absolute path of the file or directory." };
const FILE_TEXT = { type: "string", description: "Content of the new file, for `create`." };
const OLD_STR = {
  type: "string",
  description: "Text to replace, exactly as it stands in the file, for `str_replace`.",
};
const NEW_STR = { type: "string", description: "Text to put in its place, for `str_replace`." };
const INSERT_LINE = {
  type: "integer",
  description: "Line after which to insert, 0 for the beginning, for `insert`.",
};
const INSERT_TEXT = { type: "string", description: "Text to insert, for `insert`." };
const VIEW_RANGE = {
  type: "array",
  items: { type: "integer" },
  description: "First and last line to show, from 1, -1 for the end, for `view`.",
};

/** Creates the function for such a tool; null for any other type. */
export function createClientTool(type: string): ChatFunction | null {
  if (type.startsWith("bash_")) return createBash();
  if (type.startsWith("text_editor_")) return createTextEditor(type);
  if (type.startsWith("memory_")) return createMemory();
  return null;
}

function createBash(): ChatFunction {
  return {
    name: "bash",
    description: "Run a command in a bash session that keeps its state between calls.",
    parameters: objectSchema(
      {
        command: { type: "string", description: "The command to run." },
        restart: { type: "boolean", description: "Restart the session instead of running a command." },
      },
      [],
    ),
  };
}

function createTextEditor(type: string): ChatFunction {
  const canUndo = EDITORS_WITH_UNDO.has(type);
  const commands = ["view", "create", "str_replace", "insert", ...(canUndo ? ["undo_edit"] : [])];
  return {
    name: canUndo ? OLDER_EDITOR_NAME : NEWER_EDITOR_NAME,
    description: "View, create and edit text files.",
    parameters: objectSchema(
      {
        command: { type: "string", enum: commands, description: "What to do." },
        path: PATH,
        file_text: FILE_TEXT,
        old_str: OLD_STR,
        new_str: canUndo
          ? {
              ...NEW_STR,
              description: "Text to put in its place or to insert, for `str_replace` and `insert`.",
            }
          : NEW_STR,
        insert_line: INSERT_LINE,
        insert_text: INSERT_TEXT,
        view_range: VIEW_RANGE,
      },
      ["command", "path"],
    ),
  };
}

function createMemory(): ChatFunction {
  return {
    name: "memory",
    description:
      "Keep notes as files under /memories that outlast this conversation. Look there before a task; write down what later work needs.",
    parameters: objectSchema(
      {
        command: {
          type: "string",
          enum: ["view", "create", "str_replace", "insert", "delete", "rename"],
          description: "What to do.",
        },
        path: { ...PATH, description: "Path under /memories; for all commands but `rename`." },
        file_text: FILE_TEXT,
        old_str: OLD_STR,
        new_str: NEW_STR,
        insert_line: INSERT_LINE,
        insert_text: INSERT_TEXT,
        old_path: { type: "string", description: "Present path, for `rename`." },
        new_path: { type: "string", description: "Path to be, for `rename`." },
        view_range: VIEW_RANGE,
      },
      ["command"],
    ),
  };
}

function objectSchema(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}
