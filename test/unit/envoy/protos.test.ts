import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import protobuf from "protobufjs";
import { beforeAll, describe, expect, it } from "vitest";
import { PROTO_FOLDER, SERVICE_FILES } from "../../../src/envoy/messages/generic-codec.ts";
import type { Field } from "../../../src/envoy/messages/message-fields.ts";
import { MESSAGES } from "../../../src/envoy/messages/messages.ts";

const require = createRequire(import.meta.url);
const PROTOBUFJS = path.dirname(require.resolve("protobufjs/package.json"));

/** Not among the published files that we have at hand; its two methods have not changed since 2015. */
const PUBLISHED_HEALTH = `
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse {
  enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; }
  ServingStatus status = 1;
}
service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}`;

/** Younger than the published files that we have at hand; the system tests use it with Envoy itself. */
const YOUNGER = new Map([
  [".envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode.FULL_DUPLEX_STREAMED", "= 4"],
  [
    ".envoy.service.ext_proc.v3.BodyMutation.streamed_response",
    "single - .envoy.service.ext_proc.v3.StreamedBodyResponse = 3 oneof mutation",
  ],
  [
    ".envoy.service.ext_proc.v3.ProcessingRequest.protocol_config",
    "single - .envoy.service.ext_proc.v3.ProtocolConfiguration = 11 oneof -",
  ],
  [".envoy.service.ext_proc.v3.ProtocolConfiguration", "message"],
  [
    ".envoy.service.ext_proc.v3.ProtocolConfiguration.request_body_mode",
    "single - .envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode = 1 oneof -",
  ],
  [".envoy.service.ext_proc.v3.StreamedBodyResponse", "message"],
  [".envoy.service.ext_proc.v3.StreamedBodyResponse.body", "single - bytes = 1 oneof -"],
  [".envoy.service.ext_proc.v3.StreamedBodyResponse.end_of_stream", "single - bool = 2 oneof -"],
]);

/** What decides about the bytes on the wire, one line each: field numbers, types, labels, oneofs, enum values, methods. */
function listFacts(root: protobuf.Root): Map<string, string> {
  const facts = new Map<string, string>();
  const visit = (object: protobuf.ReflectionObject): void => {
    if (object instanceof protobuf.Enum) {
      for (const [name, number] of Object.entries(object.values)) {
        facts.set(`${object.fullName}.${name}`, `= ${number}`);
      }
    } else if (object instanceof protobuf.Service) {
      for (const method of object.methodsArray) {
        method.resolve();
        const { requestStream, resolvedRequestType, responseStream, resolvedResponseType } = method;
        facts.set(
          method.fullName,
          [requestStream, resolvedRequestType?.fullName, responseStream, resolvedResponseType?.fullName].join(
            " ",
          ),
        );
      }
    } else if (object instanceof protobuf.Type) {
      facts.set(object.fullName, "message");
      for (const field of object.fieldsArray) facts.set(field.fullName, describeField(field));
    }
    if (object instanceof protobuf.Namespace) object.nestedArray.forEach(visit);
  };
  visit(root);
  return facts;
}

function describeField(field: protobuf.Field): string {
  field.resolve();
  const label = field.repeated ? "repeated" : field.map ? "map" : "single";
  const key = field instanceof protobuf.MapField ? field.keyType : "-";
  const type = field.resolvedType?.fullName ?? field.type;
  return [label, key, type, `= ${field.id}`, `oneof ${field.partOf?.name ?? "-"}`].join(" ");
}

async function loadRoot(folders: readonly string[], files: readonly string[]): Promise<protobuf.Root> {
  const root = new protobuf.Root();
  const known = new Set((await Promise.all(folders.map(listProtoFiles))).flat());
  root.resolvePath = (_origin, target) => {
    const found = folders
      .map((folder) => path.join(folder, target))
      .find((candidate) => known.has(candidate));
    // The well-known types come with protobufjs, the common ones built in, descriptor.proto as a file.
    return found ?? (target in protobuf.common ? target : path.join(PROTOBUFJS, target));
  };
  await root.load([...files], { keepCase: true });
  root.resolveAll();
  return root;
}

async function listProtoFiles(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((file) => file.endsWith(".proto")).map((file) => path.join(folder, file));
}

describe("proto/", () => {
  let ours: Map<string, string>;
  let published: Map<string, string>;

  beforeAll(async () => {
    const dependencies = path.join(path.dirname(require.resolve("@grpc/grpc-js-xds/package.json")), "deps");
    const folders = ["envoy-api", "xds", "googleapis", "protoc-gen-validate"].map((name) =>
      path.join(dependencies, name),
    );
    ours = listFacts(await loadRoot([PROTO_FOLDER], SERVICE_FILES));
    const others = SERVICE_FILES.filter((file) => file.startsWith("envoy/"));
    const root = await loadRoot(folders, others);
    protobuf.parse(PUBLISHED_HEALTH, root, { keepCase: true });
    root.resolveAll();
    published = new Map([...YOUNGER, ...listFacts(root)]);
  });

  it("has the messages that the gateway needs", () => {
    for (const name of [
      ".envoy.service.auth.v3.CheckRequest",
      ".envoy.service.auth.v3.OkHttpResponse.response_headers_to_add",
      ".envoy.service.ext_proc.v3.ProcessingResponse.immediate_response",
      ".envoy.service.ext_proc.v3.ExternalProcessor.Process",
      ".envoy.type.v3.StatusCode.TooManyRequests",
      ".google.rpc.Status.code",
      ".grpc.health.v1.Health.Check",
    ]) {
      expect(ours.keys()).toContain(name);
    }
    expect(ours.size).toBeGreaterThan(150);
  });

  it("names, numbers and types everything as the published files do", () => {
    const expected = Object.fromEntries(
      [...ours.keys()].map((name) => [name, published.get(name) ?? "unknown"]),
    );
    expect(Object.fromEntries(ours)).toEqual(expected);
  });

  it("holds every file under the path of its package", async () => {
    for (const file of await listProtoFiles(PROTO_FOLDER)) {
      const parsed = protobuf.parse(await readFile(file, "utf8"), { keepCase: true });
      const folder = path.relative(PROTO_FOLDER, path.dirname(file));
      expect(parsed.package?.replaceAll(".", path.sep)).toBe(folder);
    }
  });
});

/** Messages of the table that stand for others with the same fields, or have another name. */
const PROTO_NAMES: Readonly<Record<string, readonly string[]>> = {
  AttributeRequest: ["AttributeContext.Request"],
  HttpRequest: ["AttributeContext.HttpRequest"],
  PhaseResponse: ["HeadersResponse", "BodyResponse"],
  HTTPAccessLogEntries: ["StreamAccessLogsMessage.HTTPAccessLogEntries"],
};
const SCALARS: Readonly<Record<string, readonly string[]>> = {
  text: ["string"],
  bytes: ["bytes"],
  view: ["bytes"],
  boolean: ["bool"],
  uint32: ["uint32", "int32", "StatusCode"],
  int64: ["int64"],
  double: ["double"],
};

/** What the table says of a field, or what a .proto file does. */
function listKinds({ kind }: Field): readonly string[] {
  if (typeof kind === "string") return SCALARS[kind] ?? PROTO_NAMES[kind] ?? [kind];
  return [JSON.stringify(kind.flatMap((name, number) => (name === null ? [] : [[name, number]])))];
}

function kindOf(field: protobuf.Field): string {
  const { resolvedType } = field.resolve();
  if (resolvedType instanceof protobuf.Enum && resolvedType.name !== "StatusCode") {
    return JSON.stringify(Object.entries(resolvedType.values));
  }
  if (resolvedType === null) return field.type;
  const parent = resolvedType.parent instanceof protobuf.Type ? `${resolvedType.parent.name}.` : "";
  return `${parent}${resolvedType.name}`;
}

describe("messages.ts", () => {
  it("has names, numbers, types and oneofs of proto/", async () => {
    const root = await loadRoot([PROTO_FOLDER], SERVICE_FILES);
    for (const [message, fields] of Object.entries(MESSAGES)) {
      for (const name of PROTO_NAMES[message] ?? [message]) {
        const type = root.lookupType(name);
        for (const [fieldName, field] of Object.entries<Field>(fields)) {
          const found = type.fields[fieldName];
          if (found === undefined) throw new Error(`${name} has no field ${fieldName}`);
          const many = found instanceof protobuf.MapField ? "map" : found.repeated ? "list" : undefined;
          const oneof = found.partOf?.name;
          const seen = { name, fieldName, number: found.id, many, oneof };
          expect(seen).toEqual({
            name,
            fieldName,
            number: field.number,
            many: field.many,
            oneof: field.oneof,
          });
          const kinds = listKinds(field).map((kind) => `${fieldName}: ${kind}`);
          expect(kinds).toContain(`${fieldName}: ${kindOf(found)}`);
        }
      }
    }
  });
});
