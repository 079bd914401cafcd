/** Notifications of an organization for which nothing looks at the spend. */
export const NO_WATCH = { forecast: false, suddenSpendPercent: null, summary: "off" } as const;
