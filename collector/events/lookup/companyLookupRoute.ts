import { isIP } from 'node:net'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { invalidParameter } from '../../api/http/errors.ts'
import { chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import { type CompanyKey, companyQuery } from '../../identity/store/companySql.ts'
import { isEmail } from '../../platform/hem.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { type CompanyQuery, describeCompany } from './lookupSchemas.ts'

/** Company lookup: address, domain or e-mail address → company. Charged as one record; a miss is free. */
export const companyLookupRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/lookup/company',
      {
        schema: describeCompany,
        config: {
          access: {
            to: 'key',
            projectKeys: 'as organization',
            keyRole: 'read',
            limit: 'data',
            members: 'admins',
          },
          charged: true,
        },
      },
      async (request, reply) => {
        const { principal, query } = request
        const key = readCompanyKey(query)

        const admitted = await admit(deps.billing, request, reply, usage)

        const { signal } = admitted
        const queryExecutor = deps.openQueryExecutor(principal, { effort: 'page', signal })
        const [company] = await queryExecutor.rows<Record<string, unknown>>(companyQuery(key))
        const records = company ? 1 : 0

        const { charged } = await settle(admitted, {
          records,
          // The address may belong to another company by the time of a repeat.
          hashes: () => hashesOf(company ? [String(company.company_domain)] : []),
        })

        return {
          matched: company !== undefined,
          company: company ?? null,
          meta: chargedMeta(usage.meter, records, charged),
        }
      },
    )
  }

/** The organization is charged, because the lookup reads no project. */
const usage = { meter: 'lookup', projectId: null, recordsMax: 1 } as const

/** Returns the one given key. Throws 400 that names the fault. */
function readCompanyKey({ ip, domain, email }: Static<typeof CompanyQuery>): CompanyKey {
  const keys = Object.entries({ ip, domain, email }).filter(([, value]) => value !== undefined)
  if (keys.length === 0) throw invalidParameter('ip', 'is required: give ip, domain or email')
  if (keys.length > 1) throw invalidParameter(keys[1]![0], `cannot be combined with ${keys[0]![0]}`)
  if (ip !== undefined) {
    if (isIP(ip) === 0) throw invalidParameter('ip', 'must be an IPv4 or IPv6 address')
    return { address: ip }
  }
  if (domain !== undefined) {
    const named = domain
      .trim()
      .toLowerCase()
      .replace(/^www\./, '')
    if (!/^[^\s@/:.]+(\.[^\s@/:.]+)+$/.test(named))
      throw invalidParameter('domain', 'must be a domain')
    return { domain: named }
  }
  const address = email!.trim()
  if (!isEmail(address)) throw invalidParameter('email', 'must be an e-mail address')
  return { domain: address.slice(address.lastIndexOf('@') + 1).toLowerCase() }
}
