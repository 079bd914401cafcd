import type { Snippet } from "../snippets.ts";

/** Text with a copy button. */
export function SnippetBox({ snippet }: { snippet: Snippet }) {
  return (
    <section aria-labelledby={`${snippet.id}-title`} class="snippet">
      <div class="head">
        <h2 id={`${snippet.id}-title`}>{snippet.title}</h2>
        <button
          type="button"
          data-copy={snippet.id}
          aria-label={`Copy ${snippet.title}`}
          class="quiet"
          hidden
        >
          Copy
        </button>
      </div>
      <pre tabindex={0} role="region" aria-label={`${snippet.title}, code`}>
        <code id={snippet.id}>{snippet.text}</code>
      </pre>
    </section>
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
