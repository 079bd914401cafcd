/** Decodes and encodes the messages of a call: a message that fails ends the call with an error, never the process. */
import type { MethodCodec } from "../../messages/codec.ts";
import { GRPC_STATUS } from "./grpc-status.ts";

/** Call of a transport with its own framing. */
interface MessageCall {
  send(parts: readonly Buffer[]): void;
  fail(status: number, reason: string): void;
}

/** Returns null if the call has failed. */
export function parseMessage<Request>(
  call: MessageCall,
  codec: Pick<MethodCodec<Request, unknown>, "decodeRequest">,
  bytes: Buffer,
): Request | null {
  try {
    return codec.decodeRequest(bytes);
  } catch (error) {
    call.fail(GRPC_STATUS.internal, `the message cannot be decoded: ${String(error)}`);
    return null;
  }
}

export function sendMessage<Response>(
  call: MessageCall,
  codec: Pick<MethodCodec<unknown, Response>, "encodeResponseParts">,
  response: Response,
): void {
  let parts: readonly Buffer[];
  try {
    parts = codec.encodeResponseParts(response);
  } catch (error) {
    call.fail(GRPC_STATUS.internal, `the reply cannot be encoded: ${String(error)}`);
    return;
  }
  call.send(parts);
}
