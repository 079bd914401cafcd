import { chatProtocol } from "./chat-to-chat/protocol.ts";
import type { Protocol, ProtocolName } from "./client-protocol.ts";
import { messagesProtocol } from "./messages-to-chat/protocol.ts";
import { responsesProtocol } from "./responses-to-chat/protocol.ts";

/** The protocols that clients may speak. */
export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = {
  chat: chatProtocol,
  messages: messagesProtocol,
  responses: responsesProtocol,
};
