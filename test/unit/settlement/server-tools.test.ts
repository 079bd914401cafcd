import { describe, expect, it } from "vitest";
import { boundToolUse, refuseUnpricedTools } from "../../../src/data-path/settlement/server-tools.ts";
import type { RequestedTool, ToolBound } from "../../../src/data-path/translation/client-protocol.ts";
import { describeError } from "../../support/messages-exchange.ts";

const PRICE = {
  serverTools: new Map([
    ["web_search", 1_000_000_000n],
    ["web_fetch", 1n],
    ["mcp", null],
  ]),
};
const tool = (name: string, bound: ToolBound): RequestedTool => ({ name, param: `tools.${name}`, bound });
const own = (uses: number): ToolBound => ({ kind: "own", uses });
const shared = (uses: number): ToolBound => ({ kind: "shared", uses });

describe("a tool without a price", () => {
  it("is refused with the setting that gives it one", () => {
    const refused = describeError(() =>
      refuseUnpricedTools(PRICE, { id: "acme/x" }, [tool("web_search", own(1)), tool("code", own(1))]),
    );
    expect(refused).toContain(
      "400 unsupported_parameter tools.code: the tool `code` runs at the model server",
    );
    expect(refused).toContain("no price for the model `acme/x`");
    expect(refused).toContain('`code: "10.00"`');
    expect(refused).toContain("`code: {unpriced: true}`");
  });

  it("passes where the operator says so, and where its provider bills tokens alone", () => {
    const asked = [tool("mcp", own(1)), tool("tool_search", own(1))];
    expect(() => refuseUnpricedTools(PRICE, { id: "acme/x" }, asked)).not.toThrow();
  });
});

describe("the most that tools can come to", () => {
  it("is what each allows itself, rounded up once", () => {
    const asked = [tool("web_search", own(3)), tool("web_fetch", own(5)), tool("mcp", own(7))];
    expect(boundToolUse(PRICE, asked)).toEqual({ uses: 15, microcents: 3_000_001n });
  });

  it("is the dearest of those that have one limit together", () => {
    const asked = [tool("web_fetch", shared(4)), tool("web_search", shared(4)), tool("mcp", shared(4))];
    expect(boundToolUse(PRICE, asked)).toEqual({ uses: 4, microcents: 4_000_000n });
  });

  it("is nothing without tools", () => {
    expect(boundToolUse(PRICE, [])).toEqual({ uses: 0, microcents: 0n });
  });

  it("does not exist where nothing bounds one of them", () => {
    const asked = [tool("web_search", { kind: "none", param: "max_tool_calls", reason: "without it much" })];
    expect(describeError(() => boundToolUse(PRICE, asked))).toContain(
      "400 unsupported_parameter max_tool_calls: without it much, so its cost has no upper bound",
    );
  });
});
