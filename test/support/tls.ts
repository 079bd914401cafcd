/** Certificates made on the spot, for a day, by the `openssl` program. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** PEM texts. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

export interface TestAuthority {
  /** The authority's own certificate, for the side that checks. */
  readonly ca: string;
  /** A certificate for a server or client. Names without a prefix are DNS names: "localhost", "IP:127.0.0.1". */
  issue(
    commonName: string,
    alternativeNames: readonly string[],
    options?: { readonly isExpired?: boolean },
  ): Promise<KeyPair>;
  /** Takes the files away; certificates already issued stay valid. */
  close(): Promise<void>;
}

/** A certificate authority of its own; two of them do not trust each other. */
export async function createTestAuthority(): Promise<TestAuthority> {
  const dir = await mkdtemp(join(tmpdir(), "igw-ca-"));
  const openssl = (...args: readonly string[]): Promise<unknown> =>
    run("openssl", args, { cwd: dir, timeout: 20_000 });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-subj", "/CN=test authority", "-addext", "basicConstraints=critical,CA:TRUE"];
  await openssl("req", "-x509", ...newKey, "-days", "1", "-keyout", "ca.key", "-out", "ca.crt", ...subject);
  let serial = 0;
  return {
    ca: await readFile(join(dir, "ca.crt"), "utf8"),
    issue: async (commonName, alternativeNames, { isExpired = false } = {}) => {
      serial += 1;
      const name = `leaf-${serial}`;
      const names = alternativeNames.map((entry) => (entry.includes(":") ? entry : `DNS:${entry}`));
      await writeFile(join(dir, `${name}.ext`), `subjectAltName=${names.join(",")}\n`);
      const request = ["-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${commonName}`];
      await openssl("req", ...newKey, ...request);
      const authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", String(serial)];
      const life = ["-days", isExpired ? "-1" : "1"];
      const files = ["-in", `${name}.csr`, "-extfile", `${name}.ext`, "-out", `${name}.crt`];
      await openssl("x509", "-req", ...authority, ...life, ...files);
      return {
        key: await readFile(join(dir, `${name}.key`), "utf8"),
        cert: await readFile(join(dir, `${name}.crt`), "utf8"),
      };
    },
    close: () => rm(dir, { recursive: true, force: true }),
  };
}
