import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import "ioredis";
import { expect, it } from "vitest";
import { makeStringMethodsFast } from "../../../src/data-path/store/ioredis/fast-strings.ts";

it("leaves no dictionary to look the methods of strings up in, though the Redis client extends String", () => {
  makeStringMethodsFast();
  // What only V8 can tell is asked in a syntax that it has to be told to know.
  setFlagsFromString("--allow-natives-syntax");
  expect(runInThisContext("%HasFastProperties(String.prototype)")).toBe(true);
});
