/** Many users, at night as many as an organization may have: what is asked of Redis is counted, since it grows with nothing else. */
import { Cluster } from "ioredis";
import { beforeAll, describe, expect, it } from "vitest";
import { USER_GROUP_SETTINGS } from "../../src/shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../src/shared/settings/user.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { ownerListKey } from "../../src/data-path/store/redis/keys.ts";
import { MAX_OWNERS } from "../../src/shared/stored/owner-kinds.ts";
import { byExtent } from "../support/extent.ts";
import { createTestOrganization, withTestStore } from "./fixture.ts";

const test = withTestStore();

const MANY = byExtent({ push: 10_000, nightly: MAX_OWNERS.user });
const AT_ONCE = 2_000;
const USER = { ...defaultsOf(USER_SETTINGS), name: "Ann" };
const PAGE = { limit: 20, after: null };

interface Filled {
  readonly id: string;
  readonly groupId: string;
}

/** An organization with so many users in one group; ten of them are called Zoe. */
async function fill(count: number): Promise<Filled> {
  const { id } = await createTestOrganization(test.store);
  const group = await test.store.createGroup(id, { ...defaultsOf(USER_GROUP_SETTINGS), name: "all" });
  const groupId = group.outcome === "created" ? group.owner.id : "";
  const every = count / 10;
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => {
        const number = from + index;
        const name = number % every === 0 ? `Zoe ${number}` : `User ${number}`;
        const email = `person.${number}@example.com`;
        return test.store.createUser(id, { ...USER, name, email, groupId });
      }),
    );
  }
  return { id, groupId };
}

/** Commands that Redis ran meanwhile, those within scripts too. */
async function countCommands(run: () => Promise<unknown>): Promise<number> {
  const before = await readCount();
  await run();
  // The command that reads the figures is one, on each server.
  return (await readCount()) - before - servers().length;
}

function servers() {
  const { client } = test;
  return client instanceof Cluster ? client.nodes("master") : [client];
}

async function readCount(): Promise<number> {
  const stats = await Promise.all(servers().map((server) => server.info("commandstats")));
  // A cluster's client looks after its nodes by itself.
  const calls = [...stats.join("\n").matchAll(/cmdstat_(?!cluster|ping|hello|command)[\w|]+:calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe(`an organization with ${MANY} users`, () => {
  let few: Filled;
  let many: Filled;
  beforeAll(async () => {
    few = await fill(40);
    many = await fill(MANY);
  }, 300_000);

  it("asks as much of Redis for a page, a search, a user and a change as one with forty", async () => {
    const { store } = test;
    const asked = {
      list: ({ id }: Filled) => store.listUsers(id, { search: null, groupId: null }, PAGE),
      "list of a group": ({ id, groupId }: Filled) => store.listUsers(id, { search: null, groupId }, PAGE),
      "search that finds ten": ({ id }: Filled) =>
        store.listUsers(id, { search: "zoe", groupId: null }, PAGE),
      "search that finds most": ({ id }: Filled) =>
        store.listUsers(id, { search: "user", groupId: null }, PAGE),
      "search in a group": ({ id, groupId }: Filled) =>
        store.listUsers(id, { search: "user", groupId }, PAGE),
      "search that finds nobody": ({ id }: Filled) =>
        store.listUsers(id, { search: "nobody", groupId: null }, PAGE),
      "count of a group": ({ id, groupId }: Filled) => store.countOwned(id, "group", [groupId]),
    };
    const counts: Record<string, number[]> = {};
    for (const [name, ask] of Object.entries(asked)) {
      counts[name] = [await countCommands(() => ask(few)), await countCommands(() => ask(many))];
    }
    const zoeOf = async ({ id }: Filled) =>
      (await store.listUsers(id, { search: "zoe", groupId: null }, PAGE)).items[3]?.id ?? "";
    const [zoe, other] = [await zoeOf(few), await zoeOf(many)];
    // Each on its node of a cluster, which may not know the script yet.
    await store.changeUser(few.id, zoe, { note: "a" }, null);
    await store.changeUser(many.id, other, { note: "a" }, null);
    counts["change"] = [
      await countCommands(() => store.changeUser(few.id, zoe, { name: "Zoe A" }, null)),
      await countCommands(() => store.changeUser(many.id, other, { name: "Zoe A" }, null)),
    ];
    expect(counts).toEqual(
      Object.fromEntries(Object.entries(counts).map(([name, [small]]) => [name, [small, small]])),
    );
    expect(Math.max(...Object.values(counts).flat())).toBeLessThan(30);
  });

  it("finds each page of a search that finds most, and whoever is called so behind them all", async () => {
    // With ten others whose numbers begin so.
    const last = `User ${MANY / 10 - 1}`;
    const search = { search: last.toLowerCase(), groupId: many.groupId };
    const first = await test.store.listUsers(many.id, search, { limit: 10, after: null });
    const second = await test.store.listUsers(many.id, search, { limit: 10, after: first.next });
    const names = [...first.items, ...second.items].map(({ name }) => name);
    expect(names.toSorted()).toEqual(
      [last, ...Array.from({ length: 10 }, (_, digit) => `${last}${digit}`)].toSorted(),
    );
    expect(second.next).toBeNull();
    const { items } = await test.store.listUsers(many.id, { search: "person.4321@", groupId: null }, PAGE);
    expect(items.map(({ name }) => name)).toEqual(["User 4321"]);
  });

  it("gets no other until one is deleted", async () => {
    // Places in the list that nobody has.
    const list = ownerListKey(many.id, "user");
    for (let taken = MANY; taken < MAX_OWNERS.user; taken += AT_ONCE) {
      const places = Array.from({ length: AT_ONCE }, (_, index) => ["0", `user_${taken + index}`]);
      await test.client.zadd(list, ...places.flat());
    }
    expect(await test.store.createUser(many.id, USER)).toEqual({ outcome: "full" });
    const [one] = (await test.store.listUsers(many.id, { search: "zoe", groupId: null }, PAGE)).items;
    await test.store.deleteUser(many.id, one?.id ?? "", "keep", null);
    expect((await test.store.createUser(many.id, USER)).outcome).toBe("created");
  });

  it("is deleted with all of them", async () => {
    await test.store.deleteOrganization(many.id, null);
    const left = await test.store.listUsers(many.id, { search: null, groupId: null }, PAGE);
    expect(left).toEqual({ items: [], next: null });
  });
});
