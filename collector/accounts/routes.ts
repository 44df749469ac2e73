import type { FastifyPluginAsync } from 'fastify'
import { personal } from '../access/guard.ts'
import { forbidden } from '../errors.ts'
import { keyRoutes } from './apiKeys.ts'
import { auditRoutes } from './audit.ts'
import type { AccountsDeps } from './deps.ts'
import { identifySecretRoutes } from './identifySecretRoutes.ts'
import { invitationRoutes } from './invitations.ts'
import { loginRoutes } from './login.ts'
import { memberRoutes } from './members.ts'
import { organizationRoutes } from './organization.ts'
import { ownPasswordRoutes } from './ownPassword.ts'
import { passwordResetRoutes } from './passwordResetRoutes.ts'
import { pixelActivityRoutes } from './pixelActivity.ts'
import { pixelRoutes } from './pixels.ts'
import { projectMemberRoutes } from './projectMembers.ts'
import { projectRoutes } from './projects.ts'
import { sessionRoutes } from './sessions.ts'
import { requireStorable } from './storable.ts'
import { whoamiRoutes } from './whoami.ts'

/** The Administration routes of the interface. */
export const administrationRoutes =
  (deps: AccountsDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preValidation', requireStorable)
    // What a test key does must not matter, and there is but one set of projects and pixels.
    app.addHook('preValidation', async ({ method, principal }) => {
      if (principal.mode === 'test' && method !== 'GET' && method !== 'HEAD') {
        throw forbidden('A test key changes nothing: use a live one.')
      }
    })
    await app.register(organizationRoutes(deps))
    await app.register(memberRoutes(deps))
    await app.register(projectRoutes(deps))
    await app.register(projectMemberRoutes(deps))
    await app.register(pixelRoutes(deps))
    await app.register(pixelActivityRoutes(deps))
    await app.register(identifySecretRoutes(deps))
    await app.register(whoamiRoutes(deps))
  }

/** What the dashboard alone asks for, and the legacy sign-in. */
export const dashboardApiRoutes =
  (deps: AccountsDeps): FastifyPluginAsync =>
  async (app) => {
    app.addHook('preValidation', requireStorable)
    // Who signs in or is invited has no session yet, and the answer says who they are.
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', personal)
    })
    await app.register(sessionRoutes(deps))
    await app.register(invitationRoutes(deps))
    await app.register(ownPasswordRoutes(deps))
    await app.register(passwordResetRoutes(deps))
    await app.register(keyRoutes(deps))
    await app.register(auditRoutes(deps))
    await app.register(loginRoutes(deps))
  }
