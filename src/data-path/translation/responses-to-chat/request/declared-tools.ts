import type { ChatFunction } from "../../conversation/chat-request.ts";
import { invalidField, quote } from "../../json/field-error.ts";
import { type ToolReference, ToolTable } from "../tool-table.ts";

/** The tools of one request: of its `tools`, and of the items that bring more. */
export class DeclaredTools {
  readonly table = new ToolTable();
  readonly #functions = new Map<string, ChatFunction>();

  /** The functions in the order in which they were declared first; their names are flat. */
  get functions(): readonly ChatFunction[] {
    return [...this.#functions.values()];
  }

  /** @throws GatewayError 400 when there is one of that name in that namespace already. */
  declare(tool: ToolReference, definition: Omit<ChatFunction, "name">, path: string): void {
    const name = this.table.add(tool);
    if (this.#functions.has(name)) {
      throw invalidField(`${path}.name`, `another tool has the name ${quote(tool.name)}`);
    }
    this.#functions.set(name, { name, ...definition });
  }

  /** One that may be declared already: an item of a conversation repeats tools, or brings a newer form of one. */
  declareAgain(tool: ToolReference, definition: Omit<ChatFunction, "name">): void {
    const name = this.table.add(tool);
    this.#functions.set(name, { name, ...definition });
  }
}
