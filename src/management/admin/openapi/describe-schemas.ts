import * as z from "zod";

export type JsonObject = Record<string, unknown>;

const SCHEMAS = "#/components/schemas/";
const BIGINT = { type: "integer", format: "int64" };

/** Schemas by their name in a document. */
export type NamedSchemas = ReturnType<typeof z.registry<{ id: string }>>;

/** Returns `components.schemas`. */
export function describeSchemas(named: NamedSchemas): JsonObject {
  const { schemas } = z.toJSONSchema(named, {
    io: "input",
    uri: (id) => `${SCHEMAS}${id}`,
    // The only type here that JSON lacks is the bigint, see below.
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === "bigint") Object.assign(jsonSchema, BIGINT);
      // The format suffices; the pattern would be half a kilobyte of calendar.
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

/** Returns a JSON body with this schema. @throws TypeError if the document does not name it */
export function describeJson(named: NamedSchemas, schema: z.ZodType): JsonObject {
  const name = named.get(schema)?.id;
  if (name === undefined) throw new TypeError("a schema of the API has no name in the OpenAPI document");
  return { "application/json": { schema: { $ref: SCHEMAS + name } } };
}

export function describeError(named: NamedSchemas, schema: z.ZodType): JsonObject {
  return {
    description: "An error; `error.code` identifies it.",
    content: describeJson(named, schema),
  };
}

/** Returns a parameter, which is a string unless the schema says otherwise. */
export function describeParameter(
  place: "path" | "query" | "header",
  name: string,
  description: string,
  schema: JsonObject = {},
): JsonObject {
  const required = place === "path" ? { required: true } : {};
  return { name, in: place, ...required, description, schema: { type: "string", ...schema } };
}
