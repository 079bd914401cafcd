// @ts-nocheck -- runs in browsers, whose types this repository does not load.
/** Draws rows of pictures onto one, each below its title. Returns it as a data URL. */
export async function draw({ rows, gap, most, quality }) {
  const titleHeight = 36;
  const load = async ({ title, url, width }) => {
    const image = await createImageBitmap(await (await fetch(url)).blob());
    return { title, image, width, height: Math.min(most, Math.round((image.height * width) / image.width)) };
  };
  const loaded = await Promise.all(rows.map((row) => Promise.all(row.map(load))));
  const widthOf = (row) => row.reduce((sum, { width }) => sum + width + gap, gap);
  const heightOf = (row) => titleHeight + Math.max(0, ...row.map(({ height }) => height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(...loaded.map(widthOf));
  canvas.height = loaded.reduce((sum, row) => sum + heightOf(row), gap);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  context.imageSmoothingQuality = "high";
  context.fillStyle = "#8a93a3";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#000";
  context.font = "600 20px sans-serif";
  let top = 0;
  for (const row of loaded) {
    let left = gap;
    for (const { title, image, width, height } of row) {
      context.fillText(title, left, top + 25, width);
      const shown = (height * image.width) / width;
      context.drawImage(image, 0, 0, image.width, shown, left, top + titleHeight, width, height);
      left += width + gap;
    }
    top += heightOf(row);
  }
  return canvas.toDataURL("image/webp", quality);
}
