import { audienceProjectOf } from '../api/access/policy.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import type { ProjectRequest } from '../api/access/requestedProject.ts'
import { ApiError } from '../api/http/errors.ts'
import { chargedMeta } from '../billing/chargedMeta.ts'
import { type AdmittedRequest, settle } from '../billing/chargedRequest.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { type Audience, readAudience } from './audiences.ts'
import { type Member, readRows } from './memberRows.ts'

/** The audience of a request for records of people. Throws as audienceProjectOf and readAudience do, and 422. */
export async function readPeopleAudience(
  postgres: Postgres,
  request: ProjectRequest & { readonly params: { readonly audience_id: string } },
): Promise<{ audience: Audience; projectId: string }> {
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

/** Reads the rows of members, then charges them: a page that fails half-way costs nothing. */
export async function readChargedRows(
  queryExecutor: QueryExecutor,
  admitted: AdmittedRequest,
  members: readonly Member[],
): Promise<{ rows: Buffer[]; meta: object }> {
  const rows = await readRows(queryExecutor, admitted.request.principal.organizationId, members)
  const { charged } = await settle(admitted, {
    records: members.length,
    hashes: () => members.map(({ key }) => String(key)),
  })
  return { rows, meta: chargedMeta(admitted.usage.meter, members.length, charged) }
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
