/**
 * Work for the end of this turn of the event loop. What a turn has to send leaves in one write for each connection, since a
 * system call, and waking up who reads it, costs more than to make a command or a reply.
 *
 * Redis first: when Envoy, and after it the client, hears that a request is over, its charge is on its way, and is counted
 * before whatever the client asks next; nor does it end with this process.
 */
type Work = () => void;

let forRedis: Work[] = [];
let forEnvoy: Work[] = [];
let isPlanned = false;

/** Sends commands. */
export function sendCommandsAtTurnEnd(send: Work): void {
  forRedis.push(send);
  plan();
}

/** Sends replies; after all commands of the turn. */
export function sendRepliesAtTurnEnd(send: Work): void {
  forEnvoy.push(send);
  plan();
}

/** After what has arrived in this turn was read: whatever follows from it is there then. */
function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  const [commands, replies] = [forRedis, forEnvoy];
  forRedis = [];
  forEnvoy = [];
  isPlanned = false;
  for (const send of commands) send();
  for (const send of replies) send();
}
