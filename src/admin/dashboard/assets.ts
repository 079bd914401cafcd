import { readFileSync } from "node:fs";
import { programFile } from "../../host/package-files.ts";
import type { AdminApp } from "../app-options.ts";

const ASSETS = {
  "dashboard.css": "text/css; charset=utf-8",
  "dashboard.js": "text/javascript; charset=utf-8",
  "describe-amount.js": "text/javascript; charset=utf-8",
  "describe-rate.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

/** The style sheet, the scripts and the icon; everybody may have them. */
export function addAssets(app: AdminApp): void {
  for (const [name, type] of Object.entries(ASSETS)) {
    const bytes = readFileSync(programFile(`admin/dashboard/assets/${name}`));
    app.get(`/assets/${name}`, (context) => context.body(bytes, 200, { "content-type": type }));
  }
}
