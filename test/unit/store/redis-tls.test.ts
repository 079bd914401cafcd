import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRedisTls } from "../../../src/data-path/store/redis/redis-tls.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "igw-redis-tls-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

describe("the certificates of a connection to Redis", () => {
  it("are Node's own where no file is given", () => {
    expect({ ...createRedisTls({ caFile: null, certFile: null, keyFile: null }) }).toEqual({});
  });

  it("are read again for each connection", () => {
    const files = {
      caFile: write("ca", "ca 1"),
      certFile: write("cert", "cert 1"),
      keyFile: write("key", "key 1"),
    };
    const options = createRedisTls(files);
    expect({ ...options }).toEqual({ ca: "ca 1", cert: "cert 1", key: "key 1" });
    write("ca", "ca 2");
    write("cert", "cert 2");
    expect({ ...options }).toEqual({ ca: "ca 2", cert: "cert 2", key: "key 1" });
  });

  it("keep their last content while a file is gone", () => {
    const caFile = write("ca", "ca 1");
    const options = createRedisTls({ caFile, certFile: null, keyFile: null });
    write("ca", "ca 2");
    expect({ ...options }).toEqual({ ca: "ca 2" });
    rmSync(caFile);
    expect({ ...options }).toEqual({ ca: "ca 2" });
  });

  it("must be readable at the start", () => {
    const files = { caFile: join(folder, "none"), certFile: null, keyFile: null };
    expect(() => createRedisTls(files)).toThrow("ENOENT");
  });
});
