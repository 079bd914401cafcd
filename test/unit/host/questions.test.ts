import { describe, expect, it } from "vitest";
import { type Channel, createListeners } from "../../../src/shared/host/channel.ts";
import { answerQuestions, createHostCalls } from "../../../src/shared/host/questions.ts";

interface Questions {
  readonly double: (value: number) => number;
  readonly name: () => Promise<string>;
  readonly fail: () => never;
}

/** Two ends: what one sends, the other hears as plain JSON. */
function connect(): { here: Channel; there: Channel } {
  const [here, there] = [createListeners(), createListeners()];
  const end = (own: typeof here, other: typeof here): Channel => ({
    send: (message) => other.deliver(JSON.parse(JSON.stringify(message)), 0),
    onMessage: own.add,
  });
  return { here: end(here, there), there: end(there, here) };
}

describe("questions between processes", () => {
  it("are answered each on its own, or fail with the other side's problem", async () => {
    const { here, there } = connect();
    answerQuestions<Questions>(there, {
      double: (value) => 2 * value,
      name: async () => "supervisor",
      fail: () => {
        throw new Error("not now");
      },
    });
    const ask = createHostCalls<Questions>(here);
    const answers = [ask("double", 1), ask("name"), ask("double", 2)];
    expect(await Promise.all(answers)).toEqual([2, "supervisor", 4]);
    await expect(ask("fail")).rejects.toThrow("not now");
  });

  it("fail when the other side does not know them", async () => {
    const { here, there } = connect();
    answerQuestions<object>(there, {});
    await expect(createHostCalls<Questions>(here)("name")).rejects.toThrow("unknown question name");
  });

  it("pass over messages of others", async () => {
    const { here, there } = connect();
    answerQuestions<Pick<Questions, "double">>(there, { double: (value) => 2 * value });
    const ask = createHostCalls<Questions>(here);
    const answer = ask("double", 3);
    for (const message of [null, "answer", { kind: "answer" }, { kind: "answer", id: 99 }]) {
      there.send(message);
    }
    expect(await answer).toBe(6);
  });
});
