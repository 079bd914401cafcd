/** Handwritten decoder of Envoy's access log: the fields that the gateway reads. */
import type { AccessLogCommon__Output } from "./generated/envoy/data/accesslog/v3/AccessLogCommon.ts";
import type { HTTPAccessLogEntry__Output } from "./generated/envoy/data/accesslog/v3/HTTPAccessLogEntry.ts";
import type { HTTPRequestProperties__Output } from "./generated/envoy/data/accesslog/v3/HTTPRequestProperties.ts";
import type { HTTPResponseProperties__Output } from "./generated/envoy/data/accesslog/v3/HTTPResponseProperties.ts";
import type { StreamAccessLogsMessage__Output } from "./generated/envoy/service/accesslog/v3/StreamAccessLogsMessage.ts";
import type { UInt32Value__Output } from "./generated/google/protobuf/UInt32Value.ts";
import { checkEnd, type Draft, once, ProtobufReader, skip } from "./protobuf-reader.ts";

/** Reads a message's fields into `message`; returns false for a tag that it does not know. */
type ReadField<Message> = (reader: ProtobufReader, tag: number, message: Message) => boolean;

type Entries = NonNullable<StreamAccessLogsMessage__Output["http_logs"]>;

/** @throws Unusual if the generic decoder must read the message. */
export function decodeAccessLog(bytes: Buffer): StreamAccessLogsMessage__Output {
  return readFields(new ProtobufReader(bytes), bytes.length, [2], readLogs, {});
}

const readLogs: ReadField<Draft<StreamAccessLogsMessage__Output>> = (reader, tag, message) => {
  if (tag !== 0x12) return false;
  once(message.http_logs);
  message.http_logs = readMessage(reader, [1], readEntry, {});
  message.log_entries = "http_logs";
  return true;
};

const readEntry: ReadField<Draft<Entries>> = (reader, tag, entries) => {
  if (tag !== 0x0a) return false;
  (entries.log_entry ??= []).push(readMessage(reader, [1, 3, 4], readExchange, {}));
  return true;
};

const readExchange: ReadField<Draft<HTTPAccessLogEntry__Output>> = (reader, tag, entry) => {
  if (tag === 0x0a) {
    once(entry.common_properties);
    entry.common_properties = readMessage(reader, [22], readCommon, {});
  } else if (tag === 0x1a) {
    once(entry.request);
    entry.request = readMessage(reader, [9], readRequest, {});
  } else if (tag === 0x22) {
    once(entry.response);
    entry.response = readMessage(reader, [1, 6], readResponse, {});
  } else {
    return false;
  }
  return true;
};

const readCommon: ReadField<Draft<AccessLogCommon__Output>> = (reader, tag, common) => {
  if (tag !== 0xb2) return false;
  const { key, value } = readMessage(reader, [1, 2], readTag, { key: "", value: "" });
  (common.custom_tags ??= {})[key] = value;
  return true;
};

const readTag: ReadField<{ key: string; value: string }> = (reader, tag, pair) => {
  if (tag === 0x0a) pair.key = reader.readText();
  else if (tag === 0x12) pair.value = reader.readText();
  else return false;
  return true;
};

const readRequest: ReadField<Draft<HTTPRequestProperties__Output>> = (reader, tag, request) => {
  if (tag !== 0x4a) return false;
  request.request_id = reader.readText();
  return true;
};

const readResponse: ReadField<Draft<HTTPResponseProperties__Output>> = (reader, tag, response) => {
  if (tag === 0x0a) {
    once(response.response_code);
    response.response_code = readMessage(reader, [1], readNumber, {});
  } else if (tag === 0x32) {
    response.response_code_details = reader.readText();
  } else {
    return false;
  }
  return true;
};

const readNumber: ReadField<Draft<UInt32Value__Output>> = (reader, tag, wrapper) => {
  if (tag !== 0x08) return false;
  wrapper.value = reader.readUInt32();
  return true;
};

function readMessage<Message>(
  reader: ProtobufReader,
  known: readonly number[],
  read: ReadField<Message>,
  message: Message,
): Message {
  return readFields(reader, reader.readEnd(), known, read, message);
}

/** `known`: numbers of the fields that `read` knows. */
function readFields<Message>(
  reader: ProtobufReader,
  end: number,
  known: readonly number[],
  read: ReadField<Message>,
  message: Message,
): Message {
  while (reader.at < end) {
    const tag = reader.readUInt32();
    if (!read(reader, tag, message)) skip(reader, tag, known);
  }
  checkEnd(reader, end);
  return message;
}
