import type { Redis } from "ioredis";
import { sendCommandsAtTurnEnd } from "../../../shared/event-loop/turn-end.ts";

/**
 * Sends all commands of one turn of the event loop in one write. Unlike with ioredis's automatic pipelines,
 * no command waits for earlier replies, and each stays separate, so this works with a Cluster whose slots are
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
