/** Readers of the few fields that the gateway needs from a body that passes through. */
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { describeJson, type JsonBody } from "../json/parse-body.ts";

/** @throws GatewayError 400 naming the field. */
export function readModel({ model }: JsonObject): string {
  if (model === undefined) throw missing("model", "the id of a model, as `GET /v1/models` lists them");
  if (typeof model !== "string" || model === "") throw invalid("model", "the id of a model, a string", model);
  return model;
}

/** @throws GatewayError 400 naming the field. */
export function readFlag(value: JsonObject, name: string): boolean {
  const flag = value[name];
  if (!isAbsent(flag) && typeof flag !== "boolean") throw invalid(name, "true or false", flag);
  return flag === true;
}

/**
 * @returns null if it is absent or null.
 * @throws GatewayError 400 naming the field, what was found and what was expected.
 */
export function readInteger(
  value: JsonObject,
  name: string,
  { min = 1, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number | null {
  const number = value[name];
  if (isAbsent(number)) return null;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw invalid(name, `an integer ${range}`, number);
}

/** OpenAI's maximum. */
const MAX_CHOICES = 128;

/** Reads the number of answers from `n` or `best_of`; 1 if absent. @throws GatewayError 400 */
export function readChoices(value: JsonObject, name: "n" | "best_of"): number {
  return readInteger(value, name, { max: MAX_CHOICES }) ?? 1;
}

/** @throws GatewayError 400 if present and not an object. */
export function readStreamOptions({ stream_options: options }: JsonObject): JsonObject | null {
  if (isAbsent(options)) return null;
  if (!isJsonObject(options)) throw invalid("stream_options", "an object", options);
  return options;
}

/** Reads the client's id of its end user. Ignores values that are not strings, which the upstream rejects. */
export function readEndUser({ safety_identifier: identifier, user }: JsonObject): string | null {
  for (const name of [identifier, user]) if (typeof name === "string" && name !== "") return name;
  return null;
}

/**
 * @returns The tier in lower case, as prices name it; null if absent.
 * @throws GatewayError 400 naming the field.
 */
export function readRequestedTier({ service_tier: tier }: JsonObject): string | null {
  if (isAbsent(tier)) return null;
  if (typeof tier === "string") return tier.toLowerCase();
  throw invalid("service_tier", "the name of a service tier, a string", tier);
}

/**
 * Rejects repeated fields: upstream and gateway could read different values, so that a cheap model is charged and an
 * expensive one used. Also rejects names that differ from `fields` only in case, because some servers ignore case.
 * @param fields Every field that the gateway reads or writes here.
 * @throws GatewayError 400 naming the field.
 */
export function refuseAmbiguousKeys(
  { members }: Pick<JsonBody, "members">,
  fields: ReadonlySet<string>,
  path = "",
): void {
  const seen = new Set<string>();
  for (const { key } of members) {
    if (fields.has(key)) {
      if (seen.has(key)) {
        throw new GatewayError("invalid_parameter", {
          message: `\`${path}${key}\` is given more than once. Send it once.`,
          param: path + key,
        });
      }
      seen.add(key);
      continue;
    }
    const folded = foldCase(key);
    if (fields.has(folded)) {
      throw new GatewayError("invalid_parameter", {
        message: `Unknown field ${JSON.stringify(path + key)}. Use \`${path}${folded}\`.`,
        param: path + key,
      });
    }
  }
}

/** Folds via upper case, so that the long s and the Kelvin sign fold as in case-insensitive JSON readers. */
function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export function missing(param: string, expected: string): GatewayError {
  return new GatewayError("missing_required_parameter", {
    message: `\`${param}\` is missing: expected ${expected}.`,
    param,
  });
}

export function invalid(param: string, expected: string, found: unknown): GatewayError {
  return new GatewayError("invalid_parameter", {
    message: `\`${param}\` must be ${expected}, not ${describeJson(found)}.`,
    param,
  });
}
