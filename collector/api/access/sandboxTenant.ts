import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { isUuid } from '../../../schemas/uuid.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { simulate } from '../../platform/postgres/simulation.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import { piecesOf, streamOf } from '../http/streaming.ts'
import type { Principal } from './principal.ts'

/**
 * Owner of the sample rows: the one organization, project and pixel of test keys. The other ids belong to
 * sample records. A test key reads them instead of the records that it creates.
 */
export const sampleIdentity = {
  organizationId: '5a3b1e00-0000-4000-8000-000000000001',
  projectId: '5a3b1e00-0000-4000-8000-000000000002',
  pixelId: '5a3b1e00-0000-4000-8000-000000000003',
  campaignId: '5a3b1e00-0000-4000-8000-00000000000c',
  audienceId: '5a3b1e00-0000-4000-8000-0000000000d1',
  /** An alias for the current build of the sample audience, whose id differs in each deployment. */
  buildId: '5a3b1e00-0000-4000-8000-0000000000d2',
  listId: '5a3b1e00-0000-4000-8000-0000000000e1',
  importId: '5a3b1e00-0000-4000-8000-0000000001e1',
  webhookId: '5a3b1e00-0000-4000-8000-000000000b01',
  deliveryId: '5a3b1e00-0000-4000-8000-000000000b02',
  shareId: '5a3b1e00-0000-4000-8000-000000000b03',
  optOutId: '5a3b1e00-0000-4000-8000-000000000b04',
  erasureId: '5a3b1e00-0000-4000-8000-000000000b05',
  alertId: '5a3b1e00-0000-4000-8000-000000000b08',
  archiveId: '5a3b1e00-0000-4000-8000-000000000b0c',
  visitAlertId: '5a3b1e00-0000-4000-8000-000000000b0b',
  memberId: '5a3b1e00-0000-4000-8000-0000000000a3',
  segmentId: '5a3b1e00-0000-4000-8000-000000000b08',
  funnelId: '5a3b1e00-0000-4000-8000-000000000b09',
  annotationId: '5a3b1e00-0000-4000-8000-000000000b0a',
} as const

declare module 'fastify' {
  interface FastifyRequest {
    /** For a test key's request: the caller's ids that replace the sample's in the answer. */
    sampleNames: SampleNames | null
  }
}

/** Maps each sample id to the caller's id, which has the same length. */
export type SampleNames = Map<string, string>

/** The ids that a request may name, with the sample's id of the same kind. */
const kinds = {
  organization_id: sampleIdentity.organizationId,
  project_id: sampleIdentity.projectId,
  'x-project-id': sampleIdentity.projectId,
  pixel_id: sampleIdentity.pixelId,
} as const

export interface SandboxTenant {
  /** Changes a test key's request to one of the sample organization, and returns its principal. */
  enter(request: FastifyRequest, principal: Principal): Promise<Principal>
  /** Replaces the ids in the request's body, which is parsed later. */
  enterBody(request: FastifyRequest): Promise<void>
  /** Runs the handler of a writing route, and undoes its writes after the response. */
  simulate<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Creates the redirection of test keys to the sample organization, so that no route can return live data. The
 * caller's own ids become the sample's before any handler reads them; `showOwnNames` reverts them in the
 * response. Ids of other organizations stay unchanged, and so are not found.
 */
export function createSandboxTenant(postgres: Postgres): SandboxTenant {
  const isTheirs = ttlCache((key) => isOwn(postgres, JSON.parse(key)))
  const replaceOwn = async (
    place: Record<string, unknown>,
    { organizationId, projectId }: Principal,
    names: SampleNames,
  ) => {
    for (const [kind, sampleId] of Object.entries(kinds)) {
      const value = place[kind]
      if (typeof value !== 'string' || !isUuid(value)) continue
      const id = value.toLowerCase()
      if (
        !(await isTheirs(JSON.stringify({ organizationId, projectId, kind, id } satisfies Asked)))
      )
        continue
      place[kind] = sampleId
      names.set(sampleId, id)
    }
  }
  return {
    async enter(request, principal) {
      const names: SampleNames = new Map()
      if (principal.projectId !== null) names.set(sampleIdentity.projectId, principal.projectId)
      for (const place of [request.params, request.query, request.headers])
        await replaceOwn(place as Record<string, unknown>, principal, names)
      await nameBuild(postgres, request.params as Record<string, unknown>, names)
      request.sampleNames = names
      return {
        ...principal,
        organizationId: sampleIdentity.organizationId,
        projectId: principal.projectId && sampleIdentity.projectId,
      }
    },
    async enterBody({ body, askedBy, sampleNames }) {
      if (askedBy && sampleNames && typeof body === 'object' && body !== null)
        await replaceOwn(body as Record<string, unknown>, askedBy, sampleNames)
    },
    simulate: (work) => simulate(postgres, work),
  }
}

/** Maps a member of a response with a created record to the sample's id. */
export type SampleIds = Readonly<Record<string, string | ((made: MadeRecord) => string)>>

interface MadeRecord {
  readonly [member: string]: unknown
}

/** Shows a record that a test key created under the id of a sample record, which it can read. */
export async function showSampleIds(
  request: FastifyRequest,
  _reply: unknown,
  payload: unknown,
): Promise<unknown> {
  const { sampleIds } = request.routeOptions.config
  const { sampleNames } = request
  if (!sampleIds || !sampleNames) return payload
  for (const [member, sampleId] of Object.entries(sampleIds)) {
    const made = (payload as Record<string, MadeRecord | undefined>)[member]
    const id = made?.id ?? made?.[`${member}_id`]
    if (made && typeof id === 'string')
      sampleNames.set(id, typeof sampleId === 'string' ? sampleId : sampleId(made))
  }
  return payload
}

/** Replaces the sample's build id in a path by the current build of the sample audience. */
async function nameBuild(
  postgres: Postgres,
  params: Record<string, unknown>,
  names: SampleNames,
): Promise<void> {
  if (params.build_id !== sampleIdentity.buildId) return
  const { rows } = await postgres.query<{ current_build_id: string | null }>(
    'SELECT current_build_id FROM audiences WHERE audience_id = $1',
    [sampleIdentity.audienceId],
  )
  const current = rows[0]?.current_build_id
  if (!current) return
  params.build_id = current
  names.set(current, sampleIdentity.buildId)
}

interface Asked {
  organizationId: string
  /** The only project that the key may name; null: all projects of the organization. */
  projectId: string | null
  kind: string
  id: string
}

async function isOwn(
  postgres: Postgres,
  { organizationId, projectId, kind, id }: Asked,
): Promise<boolean> {
  if (kind === 'organization_id') return id === organizationId
  const { rowCount } = await postgres.query(
    `SELECT FROM projects ${kind === 'pixel_id' ? 'JOIN pixels USING (project_id)' : ''}
     WHERE ${kind === 'pixel_id' ? 'pixel_id' : 'project_id'} = $1 AND organization_id = $2
       AND ($3::uuid IS NULL OR project_id = $3)`,
    [id, organizationId, projectId],
  )
  return rowCount !== 0
}

/** An onSend hook that replaces the sample's ids in the response by the requested ids. */
export async function showOwnNames(
  request: FastifyRequest,
  _reply: unknown,
  payload: unknown,
): Promise<unknown> {
  const names = request.sampleNames
  if (!names || names.size === 0) return payload
  if (typeof payload === 'string') return rename(payload, names)
  if (Buffer.isBuffer(payload))
    return Buffer.from(rename(payload.toString('latin1'), names), 'latin1')
  if (payload instanceof Readable) return streamOf(renamed(piecesOf(payload), names))
  return payload
}

const rename = (text: string, names: SampleNames): string =>
  [...names].reduce((renamed, [from, to]) => renamed.replaceAll(from, to), text)

/** Length of the longest incomplete id at the end of a chunk. */
const heldBytes = sampleIdentity.projectId.length - 1

/** Replaces ids in a stream. Ids are ASCII and have equal length. */
async function* renamed(
  chunks: AsyncIterable<Buffer | string>,
  names: SampleNames,
): AsyncGenerator<Buffer> {
  let held = ''
  for await (const chunk of chunks) {
    const text = rename(held + Buffer.from(chunk as Buffer).toString('latin1'), names)
    const end = Math.max(0, text.length - heldBytes)
    held = text.slice(end)
    if (end > 0) yield Buffer.from(text.slice(0, end), 'latin1')
  }
  if (held) yield Buffer.from(held, 'latin1')
}
