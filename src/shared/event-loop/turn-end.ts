/**
 * Work at the end of a turn of the event loop. The output of a turn leaves in one write per connection, since
 * a system call, and waking up its reader, costs more than making a command or a reply.
 * Redis comes first: when Envoy, and then the client, sees the end of a request, its charge is on its way, and does not
 * get lost with this process. It is counted before the client's next request, unless that one goes to another worker
 * and a busy Redis reads that worker's connection first.
 */
import { createDeferred } from "./deferred.ts";

type Work = () => void;

let forCommands: Work[] = [];
let forRedis: Work[] = [];
let forEnvoy: Work[] = [];
let sent: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
let isPlanned = false;

/** Builds commands from everything gathered in this turn, before the turn's commands are sent. */
export function makeCommandsAtTurnEnd(make: Work): void {
  forCommands.push(make);
  plan();
}

/** Sends commands at the turn's end. */
export function sendCommandsAtTurnEnd(send: Work): void {
  forRedis.push(send);
  plan();
}

/** Resolves when the commands of this turn have been written: replies made then still leave in this turn. */
export function commandsSent(): Promise<void> {
  plan();
  sent ??= createDeferred<void>();
  return sent.promise;
}

/** Sends replies at the turn's end, after all commands. */
export function sendRepliesAtTurnEnd(send: Work): void {
  forEnvoy.push(send);
  plan();
}

/**
 * Schedules the end after reading everything that arrived in this turn. Two phases: code that awaits the
 * first continues in between.
 */
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
  // Work queued between the two phases.
  if (forCommands.length > 0 || forRedis.length > 0 || sent !== null) plan();
}
