import { beforeEach, describe, expect, it } from "vitest";
import { TurnBatches } from "../../../src/data-path/store/redis/turn-batches.ts";
import { sendCommandsAtTurnEnd } from "../../../src/shared/event-loop/turn-end.ts";

function open() {
  const asked: (readonly string[])[] = [];
  const batches = new TurnBatches<string, string>();
  const ask = (common: string, item: string) =>
    batches.run(common, item, async (items) => {
      asked.push([...items]);
      return items.map((each) => each.toUpperCase());
    });
  return { asked, batches, ask };
}

describe("what one turn asks", () => {
  // A test goes on where the one before has ended: amid a turn's end.
  beforeEach(() => new Promise((resolve) => setImmediate(resolve)));

  it("is asked at once where it has the same in common, and each hears its own answer", async () => {
    const { asked, ask } = open();
    const answers = await Promise.all([ask("letters", "a"), ask("others", "x"), ask("letters", "b")]);
    expect(answers).toEqual(["A", "X", "B"]);
    expect(asked).toEqual([["a", "b"], ["x"]]);
  });

  it("does not wait for the next turn's", async () => {
    const { asked, ask } = open();
    const first = ask("letters", "a");
    await new Promise(setImmediate);
    await Promise.all([first, ask("letters", "b")]);
    expect(asked).toEqual([["a"], ["b"]]);
  });

  it("is asked before this turn's commands are sent", async () => {
    const { asked, ask } = open();
    sendCommandsAtTurnEnd(() => asked.push(["sent"]));
    await ask("letters", "a");
    expect(asked).toEqual([["a"], ["sent"]]);
  });

  it("is asked in pieces of 64", async () => {
    const { asked, ask } = open();
    const items = Array.from({ length: 130 }, (_, index) => `item ${index}`);
    expect(await Promise.all(items.map((item) => ask("letters", item)))).toEqual(
      items.map((item) => item.toUpperCase()),
    );
    expect(asked.map(({ length }) => length)).toEqual([64, 64, 2]);
  });

  it("fails for all of a batch, and for no other", async () => {
    const { batches, ask } = open();
    const failing = (item: string) => batches.run("failing", item, () => Promise.reject(new Error("away")));
    const results = await Promise.allSettled([failing("a"), failing("b"), ask("letters", "c")]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  it("is a fault where an answer is missing", async () => {
    const { batches } = open();
    await expect(batches.run("letters", "a", async () => [])).rejects.toThrow(
      "item 0 of a batch has no answer",
    );
  });
});
