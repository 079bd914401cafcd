/** The hostile organization, in a process of its own. */
import { ALL_AT_ONCE, ATTACKS, TOGETHER } from "./attacks/all.ts";
import type { Target } from "./attacks/attack.ts";
import { closeConnections } from "./attacks/raw-call.ts";
import { serveCalls } from "./helper-process.ts";

serveCalls({
  attack: async ({ name, target }: { readonly name: string; readonly target: Target }) => {
    try {
      if (name === ALL_AT_ONCE) {
        await Promise.all(TOGETHER.map((attack) => attack(target)));
        return;
      }
      const attack = ATTACKS[name];
      if (attack === undefined) throw new Error(`no attack of this name: ${name}`);
      await attack(target);
    } finally {
      closeConnections();
    }
  },
});
