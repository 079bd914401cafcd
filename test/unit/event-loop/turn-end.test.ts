import { expect, it } from "vitest";
import {
  commandsSent,
  makeCommandsAtTurnEnd,
  sendCommandsAtTurnEnd,
  sendRepliesAtTurnEnd,
} from "../../../src/shared/event-loop/turn-end.ts";

it("sends a turn's commands before its replies, whichever came first, after all that the turn still does", async () => {
  const seen: string[] = [];
  sendRepliesAtTurnEnd(() => seen.push("reply"));
  sendCommandsAtTurnEnd(() => seen.push("command"));
  await Promise.resolve().then(() => sendCommandsAtTurnEnd(() => seen.push("command of a promise")));
  seen.push("rest of the turn");
  await new Promise(setImmediate);
  expect(seen).toEqual(["rest of the turn", "command", "command of a promise", "reply"]);
});

it("sends what comes while replies go out at the end of the next turn", async () => {
  const seen: string[] = [];
  sendRepliesAtTurnEnd(() => {
    seen.push("reply");
    sendCommandsAtTurnEnd(() => seen.push("next command"));
    sendRepliesAtTurnEnd(() => seen.push("next reply"));
  });
  await new Promise(setImmediate);
  expect(seen).toEqual(["reply"]);
  await new Promise(setImmediate);
  expect(seen).toEqual(["reply", "next command", "next reply"]);
});

it("lets who waits for the commands reply in the same turn", async () => {
  const seen: string[] = [];
  const replyOnceSent = async (): Promise<void> => {
    await commandsSent();
    seen.push("sent");
    sendRepliesAtTurnEnd(() => seen.push("its reply"));
    sendCommandsAtTurnEnd(() => seen.push("late command"));
  };
  sendCommandsAtTurnEnd(() => seen.push("command"));
  const replied = replyOnceSent();
  sendRepliesAtTurnEnd(() => seen.push("reply"));
  setImmediate(() => seen.push("next work"));
  await replied;
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(seen).toEqual(["command", "sent", "reply", "its reply", "next work", "late command"]);
});

it("makes commands of what was gathered before the turn's commands are sent, and of what comes later in the next", async () => {
  const seen: string[] = [];
  sendCommandsAtTurnEnd(() => seen.push("command"));
  makeCommandsAtTurnEnd(() => {
    seen.push("made");
    sendCommandsAtTurnEnd(() => seen.push("its command"));
  });
  sendRepliesAtTurnEnd(() => {
    seen.push("reply");
    makeCommandsAtTurnEnd(() => seen.push("made later"));
  });
  await new Promise(setImmediate);
  expect(seen).toEqual(["made", "command", "its command", "reply"]);
  await new Promise(setImmediate);
  expect(seen.slice(4)).toEqual(["made later"]);
});

it("says so too when there is no command", async () => {
  await commandsSent();
  await expect(commandsSent()).resolves.toBeUndefined();
});
