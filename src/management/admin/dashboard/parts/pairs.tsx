import type { Child } from "hono/jsx";

/** Facts by name; null: not shown. */
export function Pairs({ facts }: { facts: Readonly<Record<string, Child>> }) {
  return (
    <dl class="pairs card">
      {Object.entries(facts).map(([name, fact]) =>
        fact === null ? null : (
          <div>
            <dt>{name}</dt>
            <dd class="break">{fact}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
