/** @jsxImportSource hono/jsx */
import { ROTATION_GRACE_SECONDS } from "../../../settings/key.ts";
import { NO_PROBLEMS } from "../form.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { KeyView } from "../views.ts";
import { Form, Select } from "./fields.tsx";

const GRACE_CHOICES = [
  { value: "0", label: "ends at once" },
  { value: "3600", label: "works for an hour" },
  { value: "86400", label: "works for a day" },
  { value: "604800", label: "works for a week" },
  { value: "2592000", label: "works for 30 days" },
];

interface KeyActionsProps {
  readonly page: OrganizationPageCall;
  readonly apiKey: KeyView;
  readonly path: string;
}

/** What is done with a key besides setting its limits. */
export function KeyActions({ page, apiKey, path }: KeyActionsProps) {
  return (
    <div class="columns">
      <section class="card" aria-labelledby="rotate">
        <h2 id="rotate">Rotate</h2>
        <p>Gives the key a new secret. Id, limits and spend stay.</p>
        <Form page={page} action={`${path}/rotate`}>
          <Select
            name="grace_seconds"
            label="The former key"
            value={String(ROTATION_GRACE_SECONDS)}
            problems={NO_PROBLEMS}
            choices={GRACE_CHOICES}
          />
          <button type="submit">Rotate</button>
        </Form>
      </section>
      <section class="card" aria-labelledby="pause">
        <h2 id="pause">{apiKey.disabled ? "Enable" : "Disable"}</h2>
        <p>
          {apiKey.disabled
            ? "The key is refused with 403."
            : "The key is refused with 403 until it is enabled again."}
        </p>
        <Form page={page} action={`${path}/${apiKey.disabled ? "enable" : "disable"}`}>
          <button type="submit">{apiKey.disabled ? "Enable" : "Disable"}</button>
        </Form>
      </section>
      <section class="card" aria-labelledby="delete">
        <h2 id="delete">Delete</h2>
        <p>For good: the key is unknown from the next request on. What it has spent stays in the usage.</p>
        <Form
          page={page}
          action={`${path}/delete`}
          confirm={`Delete the API key "${apiKey.name}"? This cannot be undone.`}
        >
          <button type="submit" class="danger">
            Delete
          </button>
        </Form>
      </section>
    </div>
  );
}
