/** @jsxImportSource hono/jsx */
import type { PageCall } from "../page.ts";
import { Layout } from "../parts/layout.tsx";

interface ProblemProps {
  readonly page: PageCall | null;
  readonly title: string;
  readonly message: string;
  readonly requestId: string | null;
}

/** An error, in words that say what to do. */
export function ProblemPage({ page, title, message, requestId }: ProblemProps) {
  return (
    <Layout page={page} title={title}>
      <p class="notice bad" role="alert">
        {message}
      </p>
      <p>
        <a href="/">Go to the start page</a>
      </p>
      {requestId === null ? null : <p class="quiet">Request {requestId}</p>}
    </Layout>
  );
}
