import { GatewayError } from "../../../shared/contract/errors.ts";
import { shorten } from "../../../shared/text/shorten.ts";

/** Longest part of a client's value that a message repeats. */
const MAX_QUOTED_CHARACTERS = 80;

/** 400: a required field is missing. `path` is its place in the body, such as "messages.2.content.0". */
export function missingField(path: string): GatewayError {
  return new GatewayError("missing_required_parameter", { message: `${path}: Field required`, param: path });
}

/** 400: a field's value violates the protocol. */
export function invalidField(path: string, expectation: string): GatewayError {
  return new GatewayError("invalid_parameter", { message: `${path}: ${expectation}`, param: path });
}

/** 400: the protocol allows the field, but this gateway or model does not support it. */
export function unsupportedField(path: string, reason: string): GatewayError {
  return new GatewayError("unsupported_parameter", { message: `${path}: ${reason}`, param: path });
}

/** Quotes a client's text in a message, shortened if long. */
export function quote(text: string): string {
  return `'${unquoted(text)}'`;
}

/** Shortens a client's text for a message. */
export function unquoted(text: string): string {
  return shorten(text, MAX_QUOTED_CHARACTERS);
}
