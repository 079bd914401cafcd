/**
 * Calls `act` once when the parent process is gone, so that its end of the channel is closed. The parent may
 * be gone before this call: Node emits the event only once, even without a listener.
 */
export function onParentEnd(act: () => void): void {
  if (process.send !== undefined && !process.connected) act();
  else process.once("disconnect", act);
}
