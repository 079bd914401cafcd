import { readCoding } from "../data-path/exchange/upstream/content-coding.ts";
import type { ResponseStart } from "../data-path/exchange/upstream/upstream-call.ts";
import { findHeader, namesOf } from "./messages/headers.ts";
import { LOST_CONNECTION_HEADER, PROCESSING_FILTER } from "./names.ts";
import type { Message } from "./messages/messages.ts";

/** Status and headers of a response, and the names of all its headers. */
export interface ReceivedStart extends ResponseStart {
  readonly names: string[];
}

/** Reads the message that ext_proc gets with a response's headers. */
export function readResponseStart({
  response_headers: received,
  attributes,
}: Message<"ProcessingRequest">): ReceivedStart {
  const find = (name: string): string | undefined => findHeader(received?.headers, name);
  const fields = attributes?.[PROCESSING_FILTER]?.fields;
  return {
    status: Number(find(":status")),
    contentType: find("content-type"),
    coding: readCoding(find("content-encoding")),
    retryAfter: find("retry-after"),
    codeDetails: fields?.["response.code_details"]?.stringValue ?? "",
    lostConnection: find(LOST_CONNECTION_HEADER),
    attempts: fields?.["upstream.request_attempt_count"]?.numberValue ?? 1,
    endOfStream: received?.end_of_stream === true,
    names: namesOf(received?.headers),
  };
}
