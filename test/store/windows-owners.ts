/** The keys, users and groups of an organization beside a model of them, which knows them by their places alone. */
import { strict as assert } from "node:assert";
import type { Store } from "../../src/shared/stored/store.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  createTestOrganization,
  KEY,
  type TestKey,
} from "./fixture.ts";
import type { ModelOwner, ModelRequest, ModelSettings, Subject } from "./windows-model.ts";

/** So many that no bucket refuses anything. */
const RATE = { ...KEY, requestsPerMinute: 1_000_000 };
const BY = { type: "token", id: "token_1", name: "ops" } as const;

export class OwnersUnderTest {
  readonly organizationId: string;
  readonly keys: readonly TestKey[];
  /** Of users and groups. */
  readonly #ids: ReadonlyMap<Subject, string>;

  private constructor(organizationId: string, keys: readonly TestKey[], ids: ReadonlyMap<Subject, string>) {
    this.organizationId = organizationId;
    this.keys = keys;
    this.#ids = ids;
  }

  /** Nobody belongs to anybody yet. */
  static async create(store: Store, settings: ModelSettings): Promise<OwnersUnderTest> {
    const { id } = await createTestOrganization(store, { strictCaps: settings.isStrict });
    const ids = new Map<Subject, string>();
    for (let group = 0; group < settings.groups; group += 1) {
      ids.set(`group ${group}`, await addTestGroup(store, id));
    }
    for (let user = 0; user < settings.users; user += 1) {
      ids.set(`user ${user}`, await addTestUser(store, id));
    }
    const keys: TestKey[] = [];
    for (let key = 0; key < settings.keys; key += 1) keys.push(await addTestKey(store, id, RATE));
    return new OwnersUnderTest(id, keys, ids);
  }

  /** @param id Of a key, a user or a group; null: the organization. */
  subjectOf(id: string | null): Subject {
    const place = this.keys.findIndex(({ keyId }) => keyId === id);
    if (place >= 0) return `key ${place}`;
    return [...this.#ids].find(([, known]) => known === id)?.[0] ?? "organization";
  }

  /** What has the counters of an owner in Redis. */
  fieldOf(subject: Subject): string {
    if (subject === "organization") return subject;
    const [kind] = subject.split(" ");
    return `${kind}:${kind === "key" ? this.#keyOf(subject).keyId : this.#idOf(subject)}`;
  }

  /** As a request carries them. */
  format({ user, group }: Pick<ModelRequest, "user" | "group">): string {
    const userId = user === null ? null : this.#idOf(`user ${user}`);
    return formatOwnerIds({ userId, groupId: group === null ? null : this.#idOf(`group ${group}`) });
  }

  async change(store: Store, subject: Subject, changes: Partial<ModelOwner>): Promise<void> {
    const { limits, memberLimits, raises, user, group } = changes;
    const { organizationId } = this;
    const settings = {
      ...(raises && { raises: raises.map((raise) => ({ ...raise, reason: "day 1 2", createdBy: BY })) }),
      ...(limits && { limits }),
      ...(memberLimits && { memberLimits }),
      ...(user !== undefined && { userId: user === null ? null : this.#idOf(`user ${user}`) }),
      ...(group !== undefined && { groupId: group === null ? null : this.#idOf(`group ${group}`) }),
    };
    const changed = {
      key: () => store.changeKey(this.#keyOf(subject), settings, null),
      user: () => store.changeUser(organizationId, this.#idOf(subject), settings, null),
      group: () => store.changeGroup(organizationId, this.#idOf(subject), settings, null),
      organization: () => store.changeOrganization(organizationId, settings, null),
    };
    const { outcome } = await changed[subject.split(" ")[0] as keyof typeof changed]();
    assert.equal(outcome, "changed");
  }

  /** A user or a group. */
  async delete(store: Store, subject: Subject): Promise<void> {
    const { organizationId } = this;
    const { outcome } = subject.startsWith("user")
      ? await store.deleteUser(organizationId, this.#idOf(subject), "keep", null)
      : await store.deleteGroup(organizationId, this.#idOf(subject), "keep", null);
    assert.equal(outcome, "changed");
  }

  #keyOf(subject: Subject): TestKey {
    return this.keys[Number(subject.split(" ")[1])]!;
  }

  #idOf(subject: Subject): string {
    return this.#ids.get(subject)!;
  }
}
