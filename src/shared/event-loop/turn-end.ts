/**
 * Work for the end of this turn of the event loop. What a turn has to send leaves in one write for each connection, since a
 * system call, and waking up who reads it, costs more than to make a command or a reply.
 *
 * Redis first: when Envoy, and after it the client, hears that a request is over, its charge is on its way, and is counted
 * before whatever the client asks next; nor does it end with this process.
 */
import { createDeferred } from "./deferred.ts";

type Work = () => void;

let forCommands: Work[] = [];
let forRedis: Work[] = [];
let forEnvoy: Work[] = [];
let sent: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
let isPlanned = false;

/** Makes commands of what this turn has gathered, before its commands are sent. */
export function makeCommandsAtTurnEnd(make: Work): void {
  forCommands.push(make);
  plan();
}

/** Sends commands. */
export function sendCommandsAtTurnEnd(send: Work): void {
  forRedis.push(send);
  plan();
}

/** Resolves when the commands of this turn have been written: what is replied then still leaves with the turn's replies. */
export function commandsSent(): Promise<void> {
  plan();
  sent ??= createDeferred<void>();
  return sent.promise;
}

/** Sends replies; after all commands of the turn. */
export function sendRepliesAtTurnEnd(send: Work): void {
  forEnvoy.push(send);
  plan();
}

/** After what has arrived in this turn was read. Two steps: what waits for the first one goes on between them. */
function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  setImmediate(sendCommands);
  setImmediate(sendReplies);
}

function sendCommands(): void {
  const makes = forCommands;
  forCommands = [];
  for (const make of makes) make();
  const work = forRedis;
  forRedis = [];
  for (const send of work) send();
  sent?.resolve();
  sent = null;
}

function sendReplies(): void {
  const work = forEnvoy;
  forEnvoy = [];
  isPlanned = false;
  for (const send of work) send();
  // What came between the two steps.
  if (forCommands.length > 0 || forRedis.length > 0 || sent !== null) plan();
}
