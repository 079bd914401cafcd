import { GatewayError } from "../../../shared/contract/errors.ts";
import { shorten } from "../../../shared/text/shorten.ts";

/** The longest piece of a client's own value that a message repeats. */
const MAX_QUOTED_CHARACTERS = 80;

/** 400: a field that must be there is not. `path` is its place in the body, "messages.2.content.0". */
export function missingField(path: string): GatewayError {
  return new GatewayError("missing_required_parameter", { message: `${path}: Field required`, param: path });
}

/** 400: a field's value is not what the protocol says. */
export function invalidField(path: string, expectation: string): GatewayError {
  return new GatewayError("invalid_parameter", { message: `${path}: ${expectation}`, param: path });
}

/** 400: the protocol knows it, this gateway or model does not. */
export function unsupportedField(path: string, reason: string): GatewayError {
  return new GatewayError("unsupported_parameter", { message: `${path}: ${reason}`, param: path });
}

/** A client's own text for a message, in single quotes, cut where it is long. */
export function quote(text: string): string {
  return `'${unquoted(text)}'`;
}

/** The same without quotes. */
export function unquoted(text: string): string {
  return shorten(text, MAX_QUOTED_CHARACTERS);
}
