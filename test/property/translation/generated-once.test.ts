import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHOICES_ROUTES, createRouteAnswer } from "../../support/answer-routes.ts";
import {
  formatCompletion,
  type GeneratedAnswer,
  generatedAnswer,
  sliced,
  streamInOrder,
  streamMixed,
} from "../../support/chat-stream-arbitrary.ts";
import { encode } from "../../support/messages-exchange.ts";
import { runs } from "../../support/extent.ts";

/** Everything in it, in bytes. */
function bytesOf({ reasoning, text, calls }: GeneratedAnswer): number {
  return Buffer.byteLength(
    [reasoning, text, ...calls.map(({ name, arguments: args }) => name + args)].join(""),
  );
}

describe.each(CHOICES_ROUTES.filter(({ upstream }) => upstream === "chat"))("$name", (route) => {
  it("counts all of a stream once, in whatever order it comes, and whether or not a whole message repeats it", () => {
    const streams = generatedAnswer.chain((answer) =>
      fc.tuple(
        fc.constant(answer),
        fc.oneof(streamInOrder(answer), streamMixed(answer)).chain((stream) => sliced(stream)),
      ),
    );
    fc.assert(
      fc.property(streams, ([generated, pieces]) => {
        const answer = createRouteAnswer(route, { stream: true });
        for (const piece of pieces) answer.push(piece);
        expect(answer.observation.generatedBytes).toBe(bytesOf(generated));
      }),
      { numRuns: runs(300) },
    );
  });

  it("counts all of a whole completion once", () => {
    fc.assert(
      fc.property(generatedAnswer, (generated) => {
        const answer = createRouteAnswer(route);
        answer.translateBody(
          encode(JSON.stringify(formatCompletion({ ...generated, finishReason: "stop" }))),
        );
        expect(answer.observation.generatedBytes).toBe(bytesOf(generated));
      }),
      { numRuns: runs(100) },
    );
  });
});
