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
