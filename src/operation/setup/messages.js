import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OUTPUT = join("src", "envoy", "messages", "generated.ts");

/** Kinds of fields in the table, and their types. A 64-bit number is decimal text. */
const SCALARS = /** @type {Readonly<Record<string, readonly [string, string]>>} */ ({
  string: ["text", "string"],
  bytes: ["bytes", "Buffer"],
  bool: ["boolean", "boolean"],
  uint32: ["uint32", "number"],
  int32: ["uint32", "number"],
  int64: ["int64", "string"],
  double: ["double", "number"],
});

/** An enum with larger numbers is not a list of names: its values are numbers. */
const MAX_NAMED_VALUE = 15;

/**
 * Generates the types of Envoy's messages, and the tables of fields that the codecs are compiled from, from the
 * .proto files. Writes the file only if it differs.
 *
 * @param {string} root the repository
 */
export async function generateMessages(root) {
  const { default: protobuf } = await import("protobufjs");
  const folder = join(root, "proto");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const proto = new protobuf.Root();
  // Google's own types come with the library.
  proto.resolvePath = (_origin, target) =>
    protobuf.common.get(target) === null ? join(folder, target) : target;
  proto.loadSync(files.filter((file) => file.endsWith(".proto")).toSorted(), { keepCase: true });
  proto.resolveAll();
  const output = join(root, OUTPUT);
  const text = formatMessages(listServices(proto));
  if (!existsSync(output) || readFileSync(output, "utf8") !== text) writeFileSync(output, text);

  /**
   * @param {import("protobufjs").NamespaceBase} namespace
   * @returns {import("protobufjs").Method[]}
   */
  function listServices(namespace) {
    return namespace.nestedArray.flatMap((part) => {
      if (part instanceof protobuf.Service) return part.methodsArray;
      return part instanceof protobuf.Namespace ? listServices(part) : [];
    });
  }
}

/** @param {readonly import("protobufjs").Method[]} methods */
function formatMessages(methods) {
  const received = withParts(methods.map(({ resolvedRequestType }) => resolvedRequestType));
  const sent = withParts(methods.map(({ resolvedResponseType }) => resolvedResponseType));
  const types = [...new Set([...received, ...sent])];
  const names = types.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new TypeError(`two messages of one name: ${names.join()}`);
  return `// Generated from proto/ by src/operation/setup/messages.js.

/** Messages by name; fields that are not set are absent. A oneof has the name of its member. */
export interface Messages {
${types.map((type) => `  ${type.name}: {\n${formatTypes(type, received.has(type))}  };\n`).join("")}}

/** Fields of the messages that Envoy sends. */
export const RECEIVED = ${formatTable(received)} as const;

/** Fields of the messages that the gateway sends. */
export const SENT = ${formatTable(sent)} as const;
`;
}

/**
 * Returns these messages and all within them.
 *
 * @param {readonly (import("protobufjs").Type | null)[]} types
 */
function withParts(types) {
  const found = new Set(types.filter((type) => type !== null));
  // A set also visits what is added meanwhile.
  for (const type of found) {
    for (const { resolvedType } of type.fieldsArray) {
      if (resolvedType !== null && "fieldsArray" in resolvedType) found.add(resolvedType);
    }
  }
  return found;
}

/**
 * @param {import("protobufjs").Type} type
 * @param {boolean} isReceived otherwise it is only sent, and `bytes` are any view of them
 */
function formatTypes(type, isReceived) {
  const fields = type.fieldsArray.map((field) => {
    const [, scalar] = SCALARS[field.type] ?? [];
    const one = (isReceived ? scalar : scalar?.replace("Buffer", "Uint8Array")) ?? formatType(kindOf(field));
    const value = field.map ? `Record<string, ${one}>` : field.repeated ? `${one}[]` : one;
    return `    ${field.name}?: ${value};\n`;
  });
  const oneofs = type.oneofsArray.map(
    ({ name, fieldsArray }) =>
      `    ${name}?: ${fieldsArray.map((member) => JSON.stringify(member.name)).join(" | ")};\n`,
  );
  return [...fields, ...oneofs].join("");
}

/** @param {string | readonly (string | null)[]} kind */
function formatType(kind) {
  if (typeof kind !== "string") {
    return `(${kind.flatMap((name) => (name === null ? [] : [JSON.stringify(name)])).join(" | ")})`;
  }
  return kind === "uint32" ? "number" : `Messages["${kind}"]`;
}

/** @param {ReadonlySet<import("protobufjs").Type>} types */
function formatTable(types) {
  const table = [...types].map((type) => {
    const fields = type.fieldsArray.map((field) => {
      const many = field.map ? "map" : field.repeated ? "list" : undefined;
      return [field.name, { number: field.id, kind: kindOf(field), many, oneof: field.partOf?.name }];
    });
    return [type.name, Object.fromEntries(fields)];
  });
  return JSON.stringify(Object.fromEntries(table), null, 2);
}

/**
 * Returns the name of a scalar or of a message, or the names of an enum by number.
 *
 * @param {import("protobufjs").Field} field
 */
function kindOf(field) {
  const { resolvedType, type } = field;
  if (resolvedType === null) {
    const [kind] = SCALARS[type] ?? [];
    if (kind === undefined) throw new TypeError(`the codecs have no ${type}, as ${field.fullName} is`);
    return kind;
  }
  if ("fieldsArray" in resolvedType) return resolvedType.name;
  const numbers = Object.values(resolvedType.values);
  if (Math.max(...numbers) > MAX_NAMED_VALUE) return "uint32";
  return Array.from({ length: Math.max(...numbers) + 1 }, (_, at) => resolvedType.valuesById[at] ?? null);
}
