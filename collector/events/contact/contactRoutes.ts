import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import { readPeople } from '../../identity/store/people.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { type ContactRow, contactQuery } from './contactQuery.ts'
import { type ContactCursor, type ContactPlan, readContactBody } from './contactRequest.ts'
import { describeContact } from './contactSchemas.ts'

/** POST /api/v1/contact/query: people with a business e-mail, by profile fields. */
export const contactRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const cursors = deps.cursors<ContactCursor>('contacts')
    app.post(
      '/api/v1/contact/query',
      {
        schema: describeContact,
        config: {
          access: { to: 'key', projectKeys: 'as organization', keyRole: 'read', limit: 'data' },
          charged: true,
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        const { organizationId } = principal
        const plan = readContactBody(body, (cursor) => cursors.read(organizationId, cursor))

        const admitted = await admit(deps.billing, request, reply, {
          meter: 'contact',
          projectId: null,
          recordsMax: plan.limit,
        })

        const { signal } = admitted
        const queryExecutor = deps.openQueryExecutor(principal, { effort: 'scan', signal })
        const { known, people, last } = await readContacts(queryExecutor, organizationId, plan)

        const { charged } = await settle(admitted, {
          records: known.length,
          hashes: () => hashesOf(known.map(({ person_key }) => person_key)),
        })

        const results = known.map(({ hem_text }) => people.get(hem_text)!.toString()).join(',')
        const counts = {
          count: known.length,
          with_business_email: known.length,
          charged,
          meta: chargedMeta('contact', known.length, charged),
          ...(last && {
            next_cursor: cursors.write(organizationId, { after: last, question: plan.question }),
          }),
        }
        reply.type('application/json; charset=utf-8')
        return Buffer.from(`{"results":[${results}],${JSON.stringify(counts).slice(1)}`)
      },
    )
  }

/** Reads the people of a page; `last` is the key before the next page, null on the last. */
async function readContacts(
  queryExecutor: QueryExecutor,
  organizationId: string,
  plan: ContactPlan,
) {
  const rows = await queryExecutor.rows<ContactRow>(contactQuery(plan, organizationId))
  const page = rows.slice(0, plan.limit)
  const hasMore = rows.length > plan.limit
  const hems = page.map(({ hem_text }) => hem_text)
  const people = await readPeople(queryExecutor, organizationId, hems, plan.fields)
  return {
    people,
    // A person who was erased between the two queries is neither returned nor billed.
    known: page.filter(({ hem_text }) => people.has(hem_text)),
    last: hasMore ? page.at(-1)!.person_key : null,
  }
}
