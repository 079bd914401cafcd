import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SilenceWatch } from "../../../src/envoy/silence-watch.ts";

const MINUTE_MS = 60_000;

describe("SilenceWatch", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watchOne(watch = new SilenceWatch()) {
    const toldMs: number[] = [];
    const startMs = Date.now();
    let gaveUpMs: number | null = null;
    const watched = watch.watch({
      sendKeepAlive: () => {
        toldMs.push(Date.now() - startMs);
        watched.onSent();
      },
      giveUp: () => {
        gaveUpMs = Date.now() - startMs;
      },
    });
    return { watched, toldMs, gaveUp: () => gaveUpMs };
  }

  it("lets no client wait for longer than 15 seconds, and tells none that has heard something", () => {
    const { watched, toldMs } = watchOne();
    watched.onReceived();
    vi.advanceTimersByTime(5 * MINUTE_MS);
    expect(toldMs.length).toBeGreaterThan(15);
    const gaps = toldMs.map((atMs, index) => atMs - (toldMs[index - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(15_000);
    const before = toldMs.length;
    for (let second = 0; second < 300; second += 1) {
      watched.onSent();
      vi.advanceTimersByTime(1_000);
    }
    expect(toldMs).toHaveLength(before);
  });

  it("gives an upstream up that says nothing for as long as a stream may be idle, and not one that speaks", () => {
    const watch = new SilenceWatch();
    const [silent, speaking] = [watchOne(watch), watchOne(watch)];
    silent.watched.onReceived();
    for (let minute = 0; minute < 40; minute += 1) {
      vi.advanceTimersByTime(MINUTE_MS);
      speaking.watched.onReceived();
    }
    expect(silent.gaveUp()).toBeGreaterThanOrEqual(15 * MINUTE_MS);
    expect(silent.gaveUp()).toBeLessThan(16 * MINUTE_MS);
    expect(speaking.gaveUp()).toBeNull();
    const told = silent.toldMs.length;
    vi.advanceTimersByTime(MINUTE_MS);
    expect(silent.toldMs).toHaveLength(told);
  });

  it("leaves a stream to Envoy until its upstream has said something", () => {
    const { watched, toldMs, gaveUp } = watchOne();
    vi.advanceTimersByTime(40 * MINUTE_MS);
    expect([toldMs, gaveUp()]).toEqual([[], null]);
    watched.onReceived();
    vi.advanceTimersByTime(MINUTE_MS);
    expect(toldMs.length).toBeGreaterThan(3);
  });

  it("has no timer once no answer is streamed, and one as soon as there is one again", () => {
    const watch = new SilenceWatch();
    const [first, second] = [watchOne(watch), watchOne(watch)];
    expect(vi.getTimerCount()).toBe(1);
    first.watched.end();
    first.watched.end();
    expect(vi.getTimerCount()).toBe(1);
    second.watched.end();
    expect(vi.getTimerCount()).toBe(0);
    watchOne(watch);
    expect(vi.getTimerCount()).toBe(1);
  });
});
