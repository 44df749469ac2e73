import type { FastifyReply, FastifyRequest } from 'fastify'
import { audienceProjectOf } from '../api/access/policy.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import type { ProjectRequest } from '../api/access/requestedProject.ts'
import { ApiError } from '../api/http/errors.ts'
import type { Billing, Usage } from '../billing/billing.ts'
import { spansOfKeys } from '../billing/buildPart.ts'
import { chargedMeta } from '../billing/chargedMeta.ts'
import { admit, settle } from '../billing/chargedRequest.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { readAudience, type StoredAudience } from './audiences.ts'
import { findMembersOf } from './findMembers.ts'
import { type Member, readRows } from './memberRows.ts'

/** The audience of a request for records of people. Throws as audienceProjectOf and readAudience do, and 422. */
export async function readPeopleAudience(
  postgres: Postgres,
  request: ProjectRequest & { readonly params: { readonly audience_id: string } },
): Promise<{ audience: StoredAudience; projectId: string }> {
  const { organizationId } = request.principal
  const projectId = await audienceProjectOf(postgres, request, 'identity')
  const scope = { organizationId, projectId }
  const audience = await readAudience(postgres, scope, request.params.audience_id)
  if (audience.entity === 'people') return { audience, projectId }
  throw new ApiError(
    422,
    'use_download',
    'An audience of companies has no records of people: use the download endpoint.',
  )
}

interface ChargedPage extends Pick<Usage, 'meter' | 'projectId'> {
  readonly buildId: string
  readonly members: readonly Member[]
}

/**
 * Admits the members of a page that are not paid yet, reads their rows, then charges them: a page that fails half-way
 * costs nothing.
 */
export async function readChargedRows(
  { billing, queryExecutor }: { billing: Billing; queryExecutor: QueryExecutor },
  request: FastifyRequest,
  reply: FastifyReply,
  { meter, projectId, buildId, members }: ChargedPage,
): Promise<{ rows: Buffer[]; meta: object }> {
  const keys = members.map(({ key }) => key)
  const admitted = await admit(billing, request, reply, {
    meter,
    projectId,
    recordsMax: members.length,
    build: {
      buildId,
      keys: spansOfKeys(keys),
      findMembers: findMembersOf(queryExecutor, buildId),
    },
  })
  const rows = await readRows(queryExecutor, request.principal.organizationId, members)
  const { charged } = await settle(admitted, {
    records: members.length,
    keys,
  })
  return { rows, meta: chargedMeta(meter, members.length, charged) }
}

/** A page as JSON: some members, `results`, and others. */
export const pageOf = (before: object, results: readonly Buffer[], after: object): Buffer => {
  const rows = results.flatMap((row, index) => (index === 0 ? [row] : [comma, row]))
  const end = JSON.stringify(after).slice(1)
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(before).slice(0, -1)},"results":[`),
    ...rows,
    Buffer.from(end === '}' ? ']}' : `],${end}`),
  ])
}

const comma = Buffer.from(',')
