import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import protobuf from "protobufjs";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PROTO_FOLDER, SERVICE_FILES } from "../../../src/envoy/messages/generic-codec.ts";
import { generateMessages } from "../../../src/operation/setup/messages.js";

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

describe("generateMessages", () => {
  const PROTO = `
syntax = "proto3";
package talk;
import "google/protobuf/struct.proto";
service Talk { rpc Say(stream Question) returns (Answer); }
message Question {
  oneof form { string text = 1; bytes sound = 2; }
  map<string, google.protobuf.ListValue> parts = 16;
  int64 size = 3;
}
message Answer { repeated Mood moods = 1; bytes sound = 2; StatusCode code = 3; Question back = 4; Only only = 5; }
message Only { bytes body = 1; }
message Unused { string text = 1; }
enum Mood { CALM = 0; LOUD = 2; }
enum StatusCode { Empty = 0; OK = 200; }
`;

  async function generate(proto: string): Promise<string> {
    const root = await mkdtemp(path.join(tmpdir(), "generate-messages-"));
    onTestFinished(() => rm(root, { recursive: true }));
    const folder = path.join(root, "src", "envoy", "messages");
    await Promise.all([mkdir(path.join(root, "proto")), mkdir(folder, { recursive: true })]);
    await writeFile(path.join(root, "proto", "talk.proto"), proto);
    await generateMessages(root);
    return readFile(path.join(folder, "generated.ts"), "utf8");
  }

  it("lists fields of messages that a service receives or sends, and of all within them", async () => {
    const text = await generate(PROTO);
    const tables = Array.from(text.matchAll(/ = (\{[^]*?\n\}) as const;/g), ([, json = ""]) => {
      return JSON.parse(json) as Record<string, object>;
    });
    const question = {
      text: { number: 1, kind: "text", oneof: "form" },
      sound: { number: 2, kind: "bytes", oneof: "form" },
      parts: { number: 16, kind: "ListValue", many: "map" },
      size: { number: 3, kind: "int64" },
    };
    expect(tables.map((table) => Object.keys(table))).toEqual([
      ["Question", "ListValue", "Value", "Struct"],
      ["Answer", "Question", "Only", "ListValue", "Value", "Struct"],
    ]);
    expect(tables[0]).toMatchObject({ Question: question });
    expect(tables[1]).toMatchObject({
      Question: question,
      Answer: {
        moods: { number: 1, kind: ["CALM", null, "LOUD"], many: "list" },
        sound: { number: 2, kind: "bytes" },
        code: { number: 3, kind: "uint32" },
        back: { number: 4, kind: "Question" },
        only: { number: 5, kind: "Only" },
      },
    });
  });

  it("types fields as the codecs return and take them", async () => {
    const text = await generate(PROTO);
    for (const line of [
      "sound?: Buffer;",
      'parts?: Record<string, Messages["ListValue"]>;',
      "size?: string;",
      'form?: "text" | "sound";',
      'moods?: ("CALM" | "LOUD")[];',
      "code?: number;",
      "body?: Uint8Array;",
    ]) {
      expect(text).toContain(`    ${line}\n`);
    }
  });

  it("refuses types that the codecs do not have", async () => {
    await expect(generate(PROTO.replace("int64", "sint64"))).rejects.toThrow(
      "no sint64, as .talk.Question.size",
    );
    const twice = PROTO.replace("Only only = 5;", "Only only = 5; message Question {} Question own = 6;");
    await expect(generate(twice)).rejects.toThrow("two messages of one name");
  });
});
