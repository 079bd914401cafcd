import { describe, expect, it } from "vitest";
import { takeCostRequest } from "../../../src/data-path/translation/cost-request.ts";
import { readRequestBody } from "../../../src/data-path/translation/request-body.ts";
import { encode } from "../../support/messages-exchange.ts";
import { atOnce } from "../../../src/shared/event-loop/steps.ts";

const take = (text: string) => takeCostRequest(atOnce(readRequestBody(encode(text), new Set(["model"]))));

describe("the wish for the cost of a request", () => {
  it.each([true, false])("is taken off with everything else as it was: include is %s", (include) => {
    const text = `{"model":"a/b","usage":{"include":${include}},"n": 12345678901234567890}`;
    const { body, wantsCost } = take(text);
    expect(wantsCost).toBe(include);
    expect(body.text).toBe('{"model":"a/b","n": 12345678901234567890}');
    expect(body.value).not.toHaveProperty("usage");
    expect(body.members.map(({ key }) => key)).toEqual(["model", "n"]);
  });

  it.each(["{}", "true", '{"include":"yes"}', "null", '[{"include":true}]'])(
    "is none, and goes on, in a field of another form: %s",
    (usage) => {
      const text = `{"model":"a/b","usage":${usage}}`;
      const { body, wantsCost } = take(text);
      expect([wantsCost, body.text]).toEqual([false, text]);
    },
  );

  it("is none without the field", () => {
    expect(take('{"model":"a/b"}').wantsCost).toBe(false);
  });
});
