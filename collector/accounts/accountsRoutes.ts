import type { FastifyPluginAsync } from 'fastify'
import { personal } from '../api/access/guard.ts'
import { rejectUnstorableText } from '../api/http/rejectUnstorableText.ts'
import { accountRoutes } from './account/accountRoutes.ts'
import { emailChangeRoutes } from './account/emailChangeRoutes.ts'
import { ownPasswordRoutes } from './account/ownPassword.ts'
import { ownSessionRoutes } from './account/ownSessions.ts'
import { secondFactorRoutes } from './account/secondFactorRoutes.ts'
import type { AccountsDeps } from './accountsDeps.ts'
import { auditRoutes } from './auditLog/auditRoutes.ts'
import { keyRoutes } from './keys/apiKeys.ts'
import { invitationRoutes } from './members/invitations.ts'
import { memberRoutes } from './members/memberRoutes.ts'
import { projectMemberRoutes } from './members/projectMemberRoutes.ts'
import { organizationRoutes } from './organizations/organization.ts'
import { whoamiRoutes } from './organizations/whoami.ts'
import { identifySecretRoutes } from './pixels/identifySecretRoutes.ts'
import { pixelActivityRoutes } from './pixels/pixelActivity.ts'
import { pixelRoutes } from './pixels/pixelRoutes.ts'
import { ownNetworkRoutes } from './projects/ownNetwork.ts'
import { projectActivityRoutes } from './projects/projectActivity.ts'
import { projectRoutes } from './projects/projectRoutes.ts'
import { loginRoutes } from './sessions/login.ts'
import { passwordResetRoutes } from './sessions/passwordResetRoutes.ts'
import { sessionRoutes } from './sessions/sessions.ts'
import { providerSignInRoutes } from './singleSignOn/signInRoutes.ts'
import { singleSignOnRoutes } from './singleSignOn/singleSignOnRoutes.ts'
import { trackingPlanRoutes } from './trackingPlan/trackingPlanRoutes.ts'

export const administrationRoutes =
  (deps: AccountsDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    await app.register(organizationRoutes(deps))
    await app.register(singleSignOnRoutes(deps))
    await app.register(memberRoutes(deps))
    await app.register(projectRoutes(deps))
    await app.register(trackingPlanRoutes(deps))
    await app.register(projectActivityRoutes(deps))
    await app.register(projectMemberRoutes(deps))
    await app.register(pixelRoutes(deps))
    await app.register(pixelActivityRoutes(deps))
    await app.register(identifySecretRoutes(deps))
    await app.register(whoamiRoutes(deps))
  }

/** Routes for the dashboard only, and the legacy sign-in. */
export const dashboardApiRoutes =
  (deps: AccountsDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    // Who signs in or is invited has no session yet, and the answer says who they are.
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', personal)
    })
    await app.register(sessionRoutes(deps))
    await app.register(providerSignInRoutes(deps))
    await app.register(invitationRoutes(deps))
    await app.register(accountRoutes(deps))
    await app.register(ownPasswordRoutes(deps))
    await app.register(emailChangeRoutes(deps))
    await app.register(ownSessionRoutes(deps))
    await app.register(secondFactorRoutes(deps))
    await app.register(passwordResetRoutes(deps))
    await app.register(ownNetworkRoutes)
    await app.register(keyRoutes(deps))
    await app.register(auditRoutes(deps))
    await app.register(loginRoutes(deps))
  }
