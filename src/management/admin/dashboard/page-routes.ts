import { alertPageRoutes } from "./pages/alerts.tsx";
import { allSpendPageRoutes } from "./pages/all-spend.tsx";
import { auditPageRoutes } from "./pages/audit.tsx";
import { commandLineRoutes } from "./pages/command-line.tsx";
import { correctionRoutes } from "./pages/correction.tsx";
import { groupListRoutes, groupRoutes, userListRoutes, userRoutes } from "./pages/owners.tsx";
import { keyRoutes } from "./pages/key.tsx";
import { keyListRoutes } from "./pages/keys.tsx";
import { modelPageRoutes } from "./pages/models.tsx";
import { ownPageRoutes } from "./pages/own.tsx";
import { organizationPageRoutes } from "./pages/organizations.tsx";
import { overviewRoutes } from "./pages/overview.tsx";
import { requestPageRoutes } from "./pages/requests.tsx";
import { sessionPageRoutes } from "./pages/sessions.tsx";
import { settingsRoutes } from "./pages/settings.tsx";
import { statementPageRoutes } from "./pages/statement.tsx";
import { systemPageRoutes } from "./pages/system.tsx";
import { tokenPageRoutes } from "./pages/tokens.tsx";
import { tryItPageRoutes } from "./pages/try-it.tsx";
import { usePageRoutes } from "./pages/use.tsx";
import { usagePageRoutes } from "./pages/usage.tsx";
import type { PageRoute } from "./page.ts";

/** All pages that need a session. A path without parameters precedes one that would match it as a value. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  ...allSpendPageRoutes,
  ...organizationPageRoutes,
  ...systemPageRoutes,
  ...overviewRoutes,
  ...ownPageRoutes,
  ...keyListRoutes,
  ...keyRoutes,
  ...userListRoutes,
  ...userRoutes,
  ...groupListRoutes,
  ...groupRoutes,
  ...settingsRoutes,
  ...usagePageRoutes,
  ...statementPageRoutes,
  ...usePageRoutes,
  ...correctionRoutes,
  ...requestPageRoutes,
  ...alertPageRoutes,
  ...auditPageRoutes,
  ...tokenPageRoutes,
  ...sessionPageRoutes,
  ...commandLineRoutes,
  ...modelPageRoutes,
  ...tryItPageRoutes,
];
