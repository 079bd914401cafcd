import type { Snippet } from "../snippets.ts";

/** Snippets with a copy button each; one is open at a time. */
export function Snippets({ snippets }: { snippets: readonly Snippet[] }) {
  return (
    <>
      {snippets.map(({ id, title, text }, index) => (
        <details name="snippets" class="snippet" open={index === 0}>
          <summary>
            <h2>{title}</h2>
          </summary>
          <button type="button" data-copy={id} aria-label={`Copy ${title}`} class="quiet" hidden>
            Copy
          </button>
          <pre tabindex={0} role="region" aria-label={`${title}, code`}>
            <code id={id}>{text}</code>
          </pre>
        </details>
      ))}
    </>
  );
}

/** Chooses the model of the snippets. */
export function ModelForm({ ids, chosen }: { readonly ids: readonly string[]; readonly chosen: string }) {
  return (
    <form method="get" class="inline">
      <label for="model">Model</label>
      <select id="model" name="model">
        {ids.map((id) => (
          <option value={id} selected={id === chosen}>
            {id}
          </option>
        ))}
      </select>
      <button type="submit" class="quiet">
        Fill in
      </button>
    </form>
  );
}
