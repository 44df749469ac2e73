import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { sha256 } from '../../api/access/authenticate.ts'
import { networkOf } from '../../api/access/network.ts'
import { checkPassword } from '../../api/access/passwords.ts'
import { unlockedSecret } from '../../api/access/shareLinks.ts'
import { requireToken } from '../../api/access/tries.ts'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { unauthorized } from '../../api/http/errors.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { settingsTags } from '../analyticsSchemas.ts'
import { passwordLengthMax } from './shareSchemas.ts'
import { readPasswordHash } from './shares.ts'

/** Attempts of one network, and of all networks together, so that nobody can lock out all other viewers. */
const ofNetwork = { burst: 10, everySeconds: 30 }
const ofAll = { burst: 100, everySeconds: 30 }
/** Attempts of one network for all links together, because each costs tens of milliseconds. */
const ofAllLinks = { burst: 50, everySeconds: 1 }

/** POST /api/v1/analytics/shares/unlock: credentials for viewers who know the password of a share link. */
export const unlockRoute =
  ({ postgres }: Pick<ReadDeps, 'postgres'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    app.post(
      '/api/v1/analytics/shares/unlock',
      {
        config: { access: { to: 'anyone' } },
        schema: {
          tags: settingsTags,
          operationId: 'unlockShareLink',
          summary: 'Unlock a share link with its password',
          description:
            'For viewers of a link that has a password. Returns the secret that reads the shared figures. ' +
            `A network has ${ofNetwork.burst} attempts at once, then one in ${ofNetwork.everySeconds} seconds.`,
          body: strictObject({
            secret: Type.String({
              maxLength: 200,
              description: 'The secret of the link: the part of its URL after `#`.',
            }),
            password: Type.String({
              minLength: 1,
              maxLength: passwordLengthMax,
              description: 'The password of the link.',
            }),
          }),
          response: {
            200: Type.Object({
              secret: Type.String({ description: 'Send it as `Authorization: Bearer`.' }),
            }),
          },
        },
      },
      async ({ body: { secret, password }, ip }) => {
        const hash = await readPasswordHash(postgres, secret)
        const link = sha256(secret).toString('base64url')
        await requireToken(postgres, [
          { name: `share_password_network:${networkOf(ip)}`, ...ofAllLinks },
          { name: `share_password_both:${networkOf(ip)}:${link}`, ...ofNetwork },
          { name: `share_password:${link}`, ...ofAll },
        ])
        if (!(await checkPassword(hash, password, 'share'))) throw unauthorized.sharePasswordWrong()
        return { secret: unlockedSecret(secret, hash) }
      },
    )
  }
