import type { ChatFunction } from "../../conversation/chat-request.ts";
import { invalidField, quote } from "../../json/field-error.ts";
import { type ToolReference, ToolTable } from "../tool-table.ts";

/** The tools of one request, from `tools` and from items that declare more. */
export class DeclaredTools {
  readonly table = new ToolTable();
  readonly #functions = new Map<string, ChatFunction>();

  /** Functions with flat names, in the order of their first declaration. */
  get functions(): readonly ChatFunction[] {
    return [...this.#functions.values()];
  }

  /** @throws GatewayError 400 if the namespace already has a tool of that name. */
  declare(tool: ToolReference, definition: Omit<ChatFunction, "name">, path: string): void {
    const name = this.table.add(tool);
    if (this.#functions.has(name)) {
      throw invalidField(`${path}.name`, `another tool has the name ${quote(tool.name)}`);
    }
    this.#functions.set(name, { name, ...definition });
  }

  /** Declares a tool again: an item of a conversation repeats a tool or updates its definition. */
  declareAgain(tool: ToolReference, definition: Omit<ChatFunction, "name">): void {
    const name = this.table.add(tool);
    this.#functions.set(name, { name, ...definition });
  }
}
