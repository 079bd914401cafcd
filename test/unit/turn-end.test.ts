import { expect, it } from "vitest";
import { sendCommandsAtTurnEnd, sendRepliesAtTurnEnd } from "../../src/turn-end.ts";

it("sends a turn's commands before its replies, whichever came first, after all that the turn still does", async () => {
  const seen: string[] = [];
  sendRepliesAtTurnEnd(() => seen.push("reply"));
  sendCommandsAtTurnEnd(() => seen.push("command"));
  await Promise.resolve().then(() => sendCommandsAtTurnEnd(() => seen.push("command of a promise")));
  seen.push("rest of the turn");
  await new Promise(setImmediate);
  expect(seen).toEqual(["rest of the turn", "command", "command of a promise", "reply"]);
});

it("sends what comes while it sends at the end of the next turn", async () => {
  const seen: string[] = [];
  sendCommandsAtTurnEnd(() => {
    seen.push("command");
    sendRepliesAtTurnEnd(() => seen.push("next reply"));
  });
  await new Promise(setImmediate);
  expect(seen).toEqual(["command"]);
  await new Promise(setImmediate);
  expect(seen).toEqual(["command", "next reply"]);
});
