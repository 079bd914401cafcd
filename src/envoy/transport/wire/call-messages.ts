/** One message of a call, to and from its bytes: what cannot be coded ends the call with an error, never the process. */
import type { MethodCodec } from "../../messages/codec.ts";
import { GRPC_STATUS } from "./grpc-status.ts";

/** A call as a transport on its own framing sees it. */
interface MessageCall {
  send(parts: readonly Buffer[]): void;
  fail(status: number, reason: string): void;
}

/** Null if the call has failed. */
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
