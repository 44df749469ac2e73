import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { hashesOf } from '../billing/billing.ts'
import { untilClosed } from '../http/streaming.ts'
import { readPeople } from '../people/identity/people.ts'
import type { ReadDeps } from '../query/deps.ts'
import { hasBusinessEmail } from './business.ts'
import { type ContactRow, contactQuery } from './contactQuery.ts'
import { encodeCursor, readContactBody } from './plan.ts'
import { describeContact, type QueryBody } from './schemas.ts'

/** POST /api/v1/contact/query: people by what is known of them; those with a business e-mail are charged. */
export const contactRoutes =
  (deps: ReadDeps): FastifyPluginAsync =>
  async (app) => {
    app.post<{ Body: Static<typeof QueryBody> }>(
      '/api/v1/contact/query',
      {
        schema: describeContact,
        config: {
          access: { to: 'key', projectKeys: 'as organization', keyRole: 'read', limit: 'data' },
          charged: true,
        },
      },
      async (request, reply) => {
        const signal = untilClosed(reply)
        const plan = readContactBody(request.body)
        const { organizationId } = request.principal
        const reader = deps.openReader(request.principal, { effort: 'scan', signal })
        const charge = await deps.billing.admit(request, { meter: 'contact', projectId: null, signal })
        const found = await reader.rows<ContactRow>(contactQuery(plan, organizationId))
        const page = found.slice(0, plan.limit)
        const people = await readPeople(
          reader,
          organizationId,
          page.map(({ hem_text }) => hem_text),
          plan.fields,
        )
        // Who was erased between the two questions is in neither the answer nor the bill.
        const known = page.filter(({ hem_text }) => people.has(hem_text))
        const billed = known.filter(hasBusinessEmail)
        const withBusinessEmail = billed.length
        const charged = await charge.settle(
          withBusinessEmail,
          hashesOf(
            charge,
            billed.map(({ person_key }) => person_key),
          ),
        )
        const results = known.map(({ hem_text }) => people.get(hem_text)!.toString()).join(',')
        const meta = {
          count: known.length,
          with_business_email: withBusinessEmail,
          charged,
          ...(found.length > plan.limit && { next_cursor: encodeCursor(page.at(-1)!.person_key) }),
        }
        reply.header('x-footfall-charged', charged).type('application/json; charset=utf-8')
        return Buffer.from(`{"results":[${results}],${JSON.stringify(meta).slice(1)}`)
      },
    )
  }
