import { readFileSync } from "node:fs";
import { programFile } from "../../host/package-files.ts";
import type { AdminApp } from "../app-options.ts";

/** The parts of the style sheet, in the order of the cascade: what stands later goes before what is as specific. */
const STYLES = [
  "base",
  "navigation",
  "cards",
  "tables",
  "lists",
  "forms",
  "charts",
  "steps",
  "narrow",
] as const;

const ASSETS = {
  "dashboard.js": "text/javascript; charset=utf-8",
  "describe-amount.js": "text/javascript; charset=utf-8",
  "describe-rate.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/** The style sheet, the scripts and the icon; everybody may have them. One sheet for all pages: a browser keeps it. */
export function addAssets(app: AdminApp): void {
  const styles = STYLES.map((name) => readAsset(`styles/${name}.css`).toString("utf8")).join("\n");
  app.get("/assets/dashboard.css", (context) =>
    context.body(styles, 200, { "content-type": "text/css; charset=utf-8" }),
  );
  for (const [name, type] of Object.entries(ASSETS)) {
    const bytes = new Uint8Array(readAsset(name));
    app.get(`/assets/${name}`, (context) => context.body(bytes, 200, { "content-type": type }));
  }
}

function readAsset(name: string): Buffer {
  return readFileSync(programFile(`admin/dashboard/assets/${name}`));
}
