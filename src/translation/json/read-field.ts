/**
 * Readers of single fields. For all of them null is the same as left out, as in Anthropic's own API; `path` is the
 * field's place in the body, for the error.
 */
import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { invalidField, missingField } from "./field-error.ts";

/** @throws GatewayError 400 when it is there and no string. */
export function readOptionalString(value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw invalidField(path, "Input should be a valid string");
  return value;
}

/** @throws GatewayError 400 when it is missing or no string. */
export function readString(value: unknown, path: string): string {
  const text = readOptionalString(value, path);
  if (text === null) throw missingField(path);
  return text;
}

/** @throws GatewayError 400 when it is missing, empty or no string. */
export function readName(value: unknown, path: string): string {
  const name = readString(value, path);
  if (name === "") throw missingField(path);
  return name;
}

/** @throws GatewayError 400 when it is there and no number. */
export function readOptionalNumber(value: unknown, path: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "number") throw invalidField(path, "Input should be a valid number");
  return value;
}

/** @throws GatewayError 400 when it is there and no integer. */
export function readOptionalInteger(value: unknown, path: string): number | null {
  if (value === undefined || value === null) return null;
  if (!Number.isSafeInteger(value)) throw invalidField(path, "Input should be a valid integer");
  return value as number;
}

/** @throws GatewayError 400 when it is there and neither true nor false. */
export function readOptionalBoolean(value: unknown, path: string): boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "boolean") throw invalidField(path, "Input should be a valid boolean");
  return value;
}

/** @throws GatewayError 400 when it is there and no array. */
export function readOptionalArray(value: unknown, path: string): readonly unknown[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw invalidField(path, "Input should be a valid list");
  return value;
}

/** @throws GatewayError 400 when it is there and no object. */
export function readOptionalObject(value: unknown, path: string): JsonObject | null {
  if (value === undefined || value === null) return null;
  return readObject(value, path);
}

/** @throws GatewayError 400 when it is no object. */
export function readObject(value: unknown, path: string): JsonObject {
  if (!isJsonObject(value)) throw invalidField(path, "Input should be an object");
  return value;
}
