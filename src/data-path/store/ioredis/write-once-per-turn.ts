import type { Redis } from "ioredis";
import { sendCommandsAtTurnEnd } from "../../../shared/event-loop/turn-end.ts";

/**
 * Makes commands of one turn of the event loop leave in one write. Unlike ioredis's automatic pipelines, no command waits
 * for the answers of those before it, and each stays one of its own, so that it works with a Cluster whose slots are
 * moving.
 */
export function writeOncePerTurn(client: Redis): void {
  const send = client.sendCommand.bind(client);
  let isCorked = false;
  client.sendCommand = (command, stream) => {
    if (!isCorked && client.stream?.writable) {
      const socket = client.stream;
      isCorked = true;
      socket.cork();
      sendCommandsAtTurnEnd(() => {
        isCorked = false;
        socket.uncork();
      });
    }
    return send(command, stream);
  };
}
