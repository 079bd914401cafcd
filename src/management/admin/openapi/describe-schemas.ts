import * as z from "zod";

export type JsonObject = Record<string, unknown>;

const SCHEMAS = "#/components/schemas/";
const BIGINT = { type: "integer", format: "int64" };

/** Schemas under the names that they have in a document. */
export type NamedSchemas = ReturnType<typeof z.registry<{ id: string }>>;

/** What stands under `components.schemas`, by name. */
export function describeSchemas(named: NamedSchemas): JsonObject {
  const { schemas } = z.toJSONSchema(named, {
    io: "input",
    uri: (id) => `${SCHEMAS}${id}`,
    // The only type here that JSON does not have is the bigint, see below.
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === "bigint") Object.assign(jsonSchema, BIGINT);
      // The format says it; the pattern is half a kilobyte of calendar.
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, schema]) => {
        const { $schema: _dialect, $id: _id, ...rest } = schema as JsonObject;
        return [name, rest];
      }),
  );
}

/** A body of JSON that has this schema. @throws TypeError for one that the document does not name */
export function describeJson(named: NamedSchemas, schema: z.ZodType): JsonObject {
  const name = named.get(schema)?.id;
  if (name === undefined) throw new TypeError("a schema of the API has no name in the OpenAPI document");
  return { "application/json": { schema: { $ref: SCHEMAS + name } } };
}

export function describeError(named: NamedSchemas, schema: z.ZodType): JsonObject {
  return {
    description: "An error; `error.code` says which.",
    content: describeJson(named, schema),
  };
}

/** A parameter that is a text where the schema does not say otherwise. */
export function describeParameter(
  place: "path" | "query" | "header",
  name: string,
  description: string,
  schema: JsonObject = {},
): JsonObject {
  const required = place === "path" ? { required: true } : {};
  return { name, in: place, ...required, description, schema: { type: "string", ...schema } };
}
