/** The picture of the source in docs/internals/request-life.md, drawn from its directories and the list of arrows. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ARROWS, type Arrows, SHARED, WINGS } from "./house.ts";

const ROOT = new URL("../../../", import.meta.url);
const PAGE = fileURLToPath(new URL("docs/internals/request-life.md", ROOT));

const reach = (arrows: Arrows, from: string): readonly string[] =>
  (arrows[from] ?? []).flatMap((target) => [target, ...reach(arrows, target)]);

/** A line for each name that has arrows, without those that follow from others. */
function drawArrows(arrows: Arrows): string[] {
  return Object.entries(arrows).flatMap(([from, targets]) => {
    const direct = targets.filter(
      (target) => !targets.some((other) => reach(arrows, other).includes(target)),
    );
    return direct.length === 0 ? [] : [`${from} --> ${direct.join(" & ")}`];
  });
}

function drawWing(wing: string): string[] {
  const directories = readdirSync(new URL(`src/${wing}`, ROOT), { withFileTypes: true });
  const rooms = directories
    .filter((entry) => entry.isDirectory() && entry.name in ARROWS)
    .map(({ name }) => name);
  if (rooms.length === 0) return [wing];
  const arrows = Object.fromEntries(
    rooms.map((room) => [room, (ARROWS[room] ?? []).filter((target) => rooms.includes(target))]),
  );
  const lines = drawArrows(arrows);
  const single = rooms.filter((room) => !lines.some((line) => line.split(/ --> | & /).includes(room)));
  const words = wing === "shared" ? [`words["${SHARED.join(", ")}"]`] : [];
  return [`subgraph ${wing}`, ...[...lines, ...single, ...words].map((line) => `    ${line}`), "end"];
}

it("docs/internals/request-life.md shows the wings, their rooms and arrows (vitest -u renews it)", async () => {
  const { "main.ts": _first, ...wings } = WINGS;
  const lines = ["flowchart TB", ...Object.keys(wings).toReversed().flatMap(drawWing), ...drawArrows(wings)];
  const picture = `\`\`\`mermaid\n${lines.join("\n    ")}\n\`\`\`\n`;
  const renewed = readFileSync(PAGE, "utf8").replace(
    /(<!-- house: begin -->\n).*(<!-- house: end -->)/s,
    (_, begin: string, end: string) => `${begin}${picture}${end}`,
  );
  expect(renewed).toContain("<!-- house: begin -->");
  await expect(renewed).toMatchFileSnapshot(PAGE);
});
