import { describe, expect, it } from "vitest";
import { createListeners } from "../../../src/shared/host/channel.ts";
import {
  ReachedUpstreams,
  shareReachedUpstreams,
} from "../../../src/data-path/exchange/ends/reached-upstreams.ts";

/** A supervisor and as many workers as are opened. */
function openHost() {
  const toSupervisor = createListeners();
  const toWorkers = createListeners();
  let sent = 0;
  shareReachedUpstreams({
    send: (message) => toWorkers.deliver(message, 0),
    onMessage: toSupervisor.add,
  });
  const openWorker = () =>
    new ReachedUpstreams({
      send: (message) => {
        sent += 1;
        toSupervisor.deliver(message, 0);
      },
      onMessage: toWorkers.add,
    });
  return { openWorker, toWorkers, countSent: () => sent };
}

describe("ReachedUpstreams", () => {
  it("knows what another worker of the host has reached, before and after its own start", () => {
    const { openWorker } = openHost();
    const first = openWorker();
    const second = openWorker();
    first.note("local");
    expect([second.has("local"), openWorker().has("local"), second.has("other")]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("says nothing of an upstream that is known", () => {
    const { openWorker, countSent } = openHost();
    const [first, second] = [openWorker(), openWorker()];
    first.note("local");
    const before = countSent();
    first.note("local");
    second.note("local");
    expect(countSent()).toBe(before);
  });

  it("passes over what is not about upstreams", () => {
    const { openWorker, toWorkers } = openHost();
    const worker = openWorker();
    for (const message of [
      null,
      "local",
      { kind: "collect" },
      { kind: "upstreams_reached", names: "local" },
    ]) {
      toWorkers.deliver(message, 0);
    }
    expect(worker.has("local")).toBe(false);
  });
});
