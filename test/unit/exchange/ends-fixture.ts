import {
  ExpectedEnd,
  type ReportedEnd,
  type ReportedEnds,
} from "../../../src/data-path/exchange/ends/reported-ends.ts";

export const CLIENT_LEFT: ReportedEnd = { status: 0, details: "downstream_remote_disconnect" };

/** Of each request Envoy has said this already. */
export function endsReportedAs(end: ReportedEnd = CLIENT_LEFT): Pick<ReportedEnds, "expect"> {
  return {
    expect() {
      const expected = new ExpectedEnd(() => undefined);
      expected.report(end);
      return expected;
    },
  };
}
