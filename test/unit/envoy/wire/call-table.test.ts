import { expect, it } from "vitest";
import { CallTable } from "../../../../src/envoy/transport/wire/call-table.ts";
import type { GrpcCall } from "../../../../src/envoy/transport/wire/grpc-call.ts";

type Ended = Pick<GrpcCall, "id" | "onUnread">;

function endCall(table: CallTable, id: number, ended: Partial<Ended> = {}): void {
  const call = { id, headers: { timeoutMs: null }, onUnread: null, ...ended };
  table.add(call as unknown as GrpcCall, 0);
  table.remove(call as unknown as GrpcCall);
}

it("returns what is to be undone for a reset that crosses the reply, once", () => {
  const table = new CallTable();
  const undo = () => undefined;
  endCall(table, 1, { onUnread: undo });
  endCall(table, 3);
  expect([table.takeUnread(3), table.takeUnread(1), table.takeUnread(1)]).toEqual([null, undo, null]);
});

it("keeps only the newest 256", () => {
  const table = new CallTable();
  const ids = Array.from({ length: 257 }, (_, index) => 2 * index + 1);
  for (const id of ids) endCall(table, id, { onUnread: () => undefined });
  expect(ids.filter((id) => table.takeUnread(id) === null)).toEqual([1]);
});
