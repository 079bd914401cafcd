/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { PageCall } from "../page.ts";
import { Form } from "./fields.tsx";

export interface SectionProps {
  /** Of its heading, for links to it. */
  readonly id: string;
  readonly title: Child;
  readonly class?: string;
  readonly children?: Child;
}

/** A part of a page under a heading of its own. */
export function Section({ id, title, class: className, children }: SectionProps) {
  return (
    <section class={className} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

interface CreationFormProps {
  readonly page: PageCall;
  /** "a user", of which the button says "the user". */
  readonly what: string;
  readonly button?: string;
  readonly action: string;
  /** Before the form. */
  readonly problems?: Child;
  /** The fields. */
  readonly children?: Child;
}

/** A list's form for another one, beneath it. */
export function CreationForm({ page, what, button, action, problems, children }: CreationFormProps) {
  return (
    <Section class="card" id="create" title={`Create ${what}`}>
      {problems}
      <Form page={page} action={action}>
        {children}
        <button type="submit">{button ?? `Create ${what.replace(/^an? /, "the ")}`}</button>
      </Form>
    </Section>
  );
}
