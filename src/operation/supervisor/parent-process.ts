/**
 * Calls `act` once, when the process that forked this one is gone: its end of the channel is closed then. It may be gone
 * before this process came so far as to ask: Node tells of that end once, to nobody.
 */
export function onParentGone(act: () => void): void {
  if (process.send !== undefined && !process.connected) act();
  else process.once("disconnect", act);
}
