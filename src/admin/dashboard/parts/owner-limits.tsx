/** @jsxImportSource hono/jsx */
import { SpendAgainstLimits } from "./limits.tsx";
import { Raises, type RaisesProps } from "./raises.tsx";

/** Of an owner's page: how far its limits are spent, and what is raised of them for a time. */
export function OwnerLimits(props: RaisesProps) {
  const { page, scope, limits } = props;
  return (
    <>
      <SpendAgainstLimits page={page} scope={scope} limits={limits} />
      <Raises {...props} />
    </>
  );
}
