/** @jsxImportSource hono/jsx */
import { Layout } from "../parts/layout.tsx";

interface NotSignedInProps {
  readonly message: string;
  /** For the operator, who finds the reason by it; null: the message is all that there is. */
  readonly requestId: string | null;
}

/** Behind a way to an identity provider that has not led in. */
export function NotSignedInPage({ message, requestId }: NotSignedInProps) {
  return (
    <Layout page={null} title="Not signed in">
      <p class="notice bad" role="alert">
        {message}
      </p>
      {requestId === null ? null : (
        <p class="quiet">
          The operator finds the reason in the log by <code>{requestId}</code>.
        </p>
      )}
      <p>
        <a href="/sign-in">Back to the sign-in</a>
      </p>
    </Layout>
  );
}
