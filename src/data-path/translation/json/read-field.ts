/**
 * Readers of single fields. They treat null as absent, as Anthropic's API does. `path` is the field's place in the
 * body, for errors.
 */
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { invalidField, missingField } from "./field-error.ts";

/** Creates a reader of an optional field. It throws GatewayError 400 if the field is present and invalid. */
function optional<Value>(isValid: (value: unknown) => value is Value, expectation: string) {
  return (value: unknown, path: string): Value | null => {
    if (value === undefined || value === null) return null;
    if (!isValid(value)) throw invalidField(path, `Input should be ${expectation}`);
    return value;
  };
}

export const readOptionalString = optional((value) => typeof value === "string", "a valid string");
export const readOptionalNumber = optional((value) => typeof value === "number", "a valid number");
export const readOptionalBoolean = optional((value) => typeof value === "boolean", "a valid boolean");
export const readOptionalArray = optional(isList, "a valid list");
export const readOptionalInteger = optional(isInteger, "a valid integer");
export const readOptionalObject = optional(isJsonObject, "an object");

/** @throws GatewayError 400 if it is missing or not a string. */
export function readString(value: unknown, path: string): string {
  const text = readOptionalString(value, path);
  if (text === null) throw missingField(path);
  return text;
}

/** @throws GatewayError 400 if it is missing, empty or not a string. */
export function readName(value: unknown, path: string): string {
  const name = readString(value, path);
  if (name === "") throw missingField(path);
  return name;
}

/** @throws GatewayError 400 if it is not an object. */
export function readObject(value: unknown, path: string): JsonObject {
  if (!isJsonObject(value)) throw invalidField(path, "Input should be an object");
  return value;
}

/** @throws GatewayError 400 if it is missing or not an object. */
export function readRequiredObject(value: unknown, path: string): JsonObject {
  const fields = readOptionalObject(value, path);
  if (fields === null) throw missingField(path);
  return fields;
}

/** A member of a list whose members have a `type`, and its place. */
export interface TypedObject {
  readonly type: string;
  readonly fields: JsonObject;
  readonly path: string;
}

/** @throws GatewayError 400 if it is not an object with a `type`. */
export function readTyped(value: unknown, path: string): TypedObject {
  const fields = readObject(value, path);
  return { type: readName(fields["type"], `${path}.type`), fields, path };
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
