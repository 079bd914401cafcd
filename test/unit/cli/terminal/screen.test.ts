import { describe, expect, it } from "vitest";
import { openScreen } from "../../../../src/operation/cli/terminal/screen.ts";

const TERMINAL = { isTTY: true, columns: 80 };
const PIPE = {};

describe("colours", () => {
  it.each([
    { name: "on a terminal", stream: TERMINAL, env: {}, shown: true },
    { name: "not in a pipe", stream: PIPE, env: {}, shown: false },
    { name: "not on a dumb terminal", stream: TERMINAL, env: { TERM: "dumb" }, shown: false },
    { name: "not with NO_COLOR", stream: TERMINAL, env: { NO_COLOR: "1" }, shown: false },
    { name: "with an empty NO_COLOR", stream: TERMINAL, env: { NO_COLOR: "" }, shown: true },
    { name: "in a pipe with FORCE_COLOR", stream: PIPE, env: { FORCE_COLOR: "1" }, shown: true },
    { name: "not with FORCE_COLOR=0", stream: TERMINAL, env: { FORCE_COLOR: "0" }, shown: false },
    { name: "not with both", stream: TERMINAL, env: { NO_COLOR: "1", FORCE_COLOR: "1" }, shown: false },
  ])("are shown $name", ({ stream, env, shown }) => {
    const text = openScreen(stream, { env }).paint("bad", "no");
    expect(text).toBe(shown ? "\u001b[31mno\u001b[0m" : "no");
  });
});

describe("the width", () => {
  it.each([
    { name: "of a terminal is its own", stream: TERMINAL, isWide: false, columns: 80 },
    { name: "has no end with --wide", stream: TERMINAL, isWide: true, columns: null },
    { name: "has no end in a pipe", stream: { columns: 80 }, isWide: false, columns: null },
    {
      name: "has no end where a terminal does not know it",
      stream: { isTTY: true, columns: 0 },
      isWide: false,
      columns: null,
    },
  ])("$name", ({ stream, isWide, columns }) => {
    expect(openScreen(stream, { env: {}, isWide }).columns).toBe(columns);
  });
});
