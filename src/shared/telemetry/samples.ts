/** Line of a metrics page. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Returns the samples of one metric with labels and whole values. */
export function parseSamples(page: string, name: string): Sample[] {
  return page.split("\n").flatMap((line) => {
    const [, labels, value] = new RegExp(`^${name}\\{([^}]*)\\} (\\d+)$`).exec(line) ?? [];
    return labels === undefined ? [] : [{ labels: parseLabels(labels), value: Number(value) }];
  });
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/(\w+)="([^"]*)"/g), ([, name = "", value = ""]) => [name, value]),
  );
}
