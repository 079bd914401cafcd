/** Where to look for secrets, and in what forms. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The text of every file under the folder. */
export function readFiles(dir: string): string {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}

/** As it is, and as parts of protocols write it. */
export function forms(secret: string): string[] {
  return [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)];
}
