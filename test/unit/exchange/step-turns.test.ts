/** Large bodies are worked on step by step, one step of all of them at a time, and others are served in between. */
import { expect, it, vi } from "vitest";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import { CountedBody } from "../../../src/data-path/exchange/bodies/counted-body.ts";
import { StepTurns } from "../../../src/data-path/exchange/bodies/step-turns.ts";
import { atOnce, type Steps } from "../../../src/shared/event-loop/steps.ts";

const MEBIBYTE = 1024 ** 2;
const OWNER = { keyId: "key_1", keyName: "ci", organizationId: "org_1" };

/** Notes each of its steps. */
function* take(name: string, count: number, seen: string[]): Steps<string> {
  for (let step = 1; step < count; step += 1) {
    seen.push(`${name}${step}`);
    yield;
  }
  seen.push(`${name}${count}`);
  return name;
}

it("takes one step of all at a time, each in its turn, and leaves the event loop after it", async () => {
  const turns = new StepTurns();
  const seen: string[] = [];
  const done = Promise.all([turns.run(take("a", 3, seen)), turns.run(take("b", 2, seen))]);
  // What others have to do: the loop comes to it after each step.
  const timer = setInterval(() => undefined, 1_000);
  let turnsOfLoop = 0;
  const count = (): void => {
    turnsOfLoop += 1;
    seen.push("-");
    if (turnsOfLoop < 8) setImmediate(count);
  };
  setImmediate(count);
  expect(await done).toEqual(["a", "b"]);
  clearInterval(timer);
  expect(seen.filter((step) => step !== "-")).toEqual(["a1", "b1", "a2", "b2", "a3"]);
  const between = seen
    .join(" ")
    .split(/[ab]\d/)
    .slice(1, -1);
  expect(between.every((each) => each.includes("-"))).toBe(true);
});

it("rests after a step for as long as the step took, so that a whole request of others fits in", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  try {
    const turns = new StepTurns();
    let steps = 0;
    // They end: without the rest all of them would come before a timer.
    const take400ms = function* (): Steps<void> {
      for (let step = 0; step < 5; step += 1) {
        steps += 1;
        vi.advanceTimersByTime(400);
        yield;
      }
    };
    void turns.run(take400ms());
    void turns.run(take400ms());
    await vi.advanceTimersByTimeAsync(0);
    expect(steps, "steps before the rest").toBe(1);
    await vi.advanceTimersByTimeAsync(399);
    expect(steps, "steps within the rest").toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(steps, "steps after the rest").toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

it("goes on with others where a step throws", async () => {
  const turns = new StepTurns();
  const seen: string[] = [];
  // oxlint-disable-next-line require-yield -- its first step throws
  function* fail(): Steps<never> {
    throw new Error("broken");
  }
  const failed = turns.run(fail());
  const done = turns.run(take("a", 2, seen));
  await expect(failed).rejects.toThrow("broken");
  expect(await done).toBe("a");
});

it("is for large bodies alone; a small one is worked on at once", async () => {
  const limits = {
    maxBodyBytes: 8 * MEBIBYTE,
    maxUpstreamBytes: 9 * MEBIBYTE,
    maxBufferedBytes: 64 * MEBIBYTE,
  };
  const budget = new BodyBudget(limits);
  const seen: string[] = [];
  const small = new CountedBody(budget, OWNER);
  await small.begin(Buffer.alloc(MEBIBYTE - 1, "x"));
  expect(small.work(take("a", 3, seen))).toBe("a");
  const large = new CountedBody(budget, OWNER);
  await large.begin(Buffer.alloc(MEBIBYTE, "x"));
  const made = large.work(take("b", 3, seen));
  expect(made).toBeInstanceOf(Promise);
  expect(await made).toBe("b");
  expect(seen).toEqual(["a1", "a2", "a3", "b1", "b2", "b3"]);
  expect(atOnce(take("c", 2, seen))).toBe("c");
});
