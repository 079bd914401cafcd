import * as z from "zod";
import { TOKEN_ROLES } from "../../../data-path/store/types/tokens.ts";
import { NAME_VALUES, name, timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer, choice, input } from "./fields.ts";
import { pageOf } from "./page.ts";

const role = () =>
  choice(TOKEN_ROLES).describe(
    "`admin` reads and changes everything of its organization, `viewer` only reads.",
  );

export const tokenCreation = input("TokenCreation", {
  name: name().describe(`${NAME_VALUES}.`),
  role: role(),
});

const tokenFields = {
  id: z.string().meta({ examples: ["token_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  name: z.string(),
  role: role(),
  display: z.string().meta({ examples: ["igw_org_…a1B2"] }),
  created_at: timestamp(),
};

const token = answer("Token", tokenFields);
export const tokenWithSecret = answer("TokenWithSecret", {
  ...tokenFields,
  token: z.string().describe("The token itself. It is never shown again."),
});
export const tokenPage = pageOf("TokenPage", token);
