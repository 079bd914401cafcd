/**
 * `node src/operation/setup/release-notes.js`: prints the notes of the version in package.json, from its
 * section in CHANGELOG.md.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SetupError } from "./setup-error.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * @param {string} root the repository
 * @returns {string} the changelog's section of the version, without its heading
 * @throws {SetupError} if the changelog has no dated section of the version, or an empty one, or the chart
 * has another version
 */
export function readReleaseNotes(root) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  // Parsed without a package, since it runs before any is installed.
  const chart = readFileSync(join(root, "deploy/helm/Chart.yaml"), "utf8");
  /** @param {string} field */
  const valueOf = (field) => new RegExp(`^${field}: "?([^"\\n]+)`, "m").exec(chart)?.[1];
  const [chartVersion, appVersion] = [valueOf("version"), valueOf("appVersion")];
  if (chartVersion !== version || appVersion !== version) {
    throw new SetupError(
      `deploy/helm/Chart.yaml: expected version and appVersion ${version}, as package.json says, found ${chartVersion} and ${appVersion}`,
    );
  }
  const sections = readFileSync(join(root, "CHANGELOG.md"), "utf8").split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}] - `));
  if (section === undefined) {
    throw new SetupError(`CHANGELOG.md: expected a section "## [${version}] - <date>", found none`);
  }
  const [heading = "", ...lines] = section.split("\n");
  const notes = lines.join("\n").trim();
  if (!/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/.test(heading)) {
    throw new SetupError(`CHANGELOG.md: expected "## [${version}] - YYYY-MM-DD", found "## ${heading}"`);
  }
  if (notes === "") throw new SetupError(`CHANGELOG.md: expected what is new in ${version}, found nothing`);
  return `${notes}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    process.stdout.write(readReleaseNotes(ROOT));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
