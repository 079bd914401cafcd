/** @jsxImportSource hono/jsx */
import { type PageAnswer, type PageCall, showPage } from "../page.ts";
import { Form } from "./fields.tsx";
import { Layout } from "./layout.tsx";

interface Question {
  readonly title: string;
  readonly section: string;
  readonly text: string;
  /** On the button. */
  readonly answer: string;
  /** Where *Cancel* leads. */
  readonly back: string;
  /** Boxes of the form that were ticked, and stay so. */
  readonly kept?: readonly string[];
}

/** Whether the question was answered: by the dialog of the script, or by the page below. */
export function isSure(page: PageCall): boolean {
  return page.form.text("sure") === "yes";
}

/** Asks before what cannot be undone, where no script has asked. */
export function askFirst(
  page: PageCall,
  { title, section, text, answer, back, kept = [] }: Question,
): PageAnswer {
  return showPage(
    <Layout page={page} title={title} section={section}>
      <div class="card">
        <p>{text}</p>
        <Form page={page} action={page.path} class="actions">
          <input type="hidden" name="sure" value="yes" />
          {kept.map((name) => (
            <input type="hidden" name={name} value="yes" />
          ))}
          <button type="submit" class="danger">
            {answer}
          </button>
          <a href={back}>Cancel</a>
        </Form>
      </div>
    </Layout>,
  );
}
