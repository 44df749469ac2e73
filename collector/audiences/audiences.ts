import type { Static } from 'typebox'
import { isUuid } from '../../schemas/uuid.ts'
import type { AudienceScope } from '../api/access/policy.ts'
import { notFound, requireUnused } from '../api/http/errors.ts'
import { readPage } from '../api/http/pagination.ts'
import { readRecords } from '../platform/postgres/records.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import { uuidV7 } from '../platform/uuidV7.ts'
import type { AudienceChange, Audience as AudienceSchema, NewAudience } from './audienceSchemas.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { meterOf, requestBuild } from './builds.ts'
import { leavesOf, meaningOf, type Parsed } from './definition/definition.ts'
import { invalidAt } from './definition/invalid.ts'
import { parseDefinition } from './definition/parse.ts'
import { checkReferences, forgetReferences, noteReferences } from './definition/references.ts'

export type Audience = Static<typeof AudienceSchema>

/** An audience without the numbers of its served build, which shownNumbers.ts adds. */
export interface StoredAudience extends Omit<Audience, 'count' | 'bucket_counts'> {
  /** False until `numbers_from` if the allowance of free answers was used up. */
  readonly showsNumbers: boolean
}

/** SQL of a scope: the parameters $1 and $2. */
const chosen = `FROM audiences
  JOIN projects USING (project_id)
  LEFT JOIN audience_builds AS served ON served.build_id = audiences.current_build_id
  CROSS JOIN LATERAL (
    SELECT status FROM audience_builds WHERE audience_builds.audience_id = audiences.audience_id
    ORDER BY number DESC LIMIT 1
  ) AS newest
  WHERE organization_id = $1 AND ($2::uuid IS NULL OR audiences.project_id = $2) AND audiences.list_id IS NULL`

/** The served build determines the meter; before the first build, the definition does. */
const isPredictive = `coalesce(served.is_predictive, jsonb_path_exists(audiences.definition, '$.**.intent') OR EXISTS (
    SELECT FROM audience_uses JOIN audiences AS used ON used.audience_id = used_id
      JOIN audience_builds AS used_build ON used_build.build_id = used.current_build_id
    WHERE audience_uses.audience_id = audiences.audience_id AND used_build.is_predictive))`

const columns = `audiences.audience_id AS id, audiences.project_id, audiences.name, audiences.entity,
  audiences.definition, audiences.intent_window_days, audiences.refresh, newest.status,
  coalesce(served.numbers_from <= now(), false) AS "showsNumbers", ${isPredictive} AS is_predictive, audiences.current_build_id AS build_id,
  served.completed_at AS built_at, audiences.version,
  audiences.created_at, audiences.updated_at`

/** Reads an audience. Throws 404 "audience not found", also for one outside the scope. */
export async function readAudience(
  client: Queryable,
  { organizationId, projectId }: AudienceScope,
  audienceId: string,
  lock = false,
): Promise<StoredAudience> {
  if (!isUuid(audienceId)) throw notFound.audience()
  const [row] = await readRecords<Row>(
    client,
    `SELECT ${columns} ${chosen} AND audiences.audience_id = $3 ${lock ? 'FOR UPDATE OF audiences' : ''}`,
    [organizationId, projectId, audienceId],
  )
  if (!row) throw notFound.audience()
  return audienceOf(row)
}

/** Returns a page of a project's audiences, oldest first. Throws 400 for an invalid cursor. */
export async function listAudiences(
  deps: Pick<AudiencesDeps, 'postgres' | 'cursors'>,
  { organizationId, projectId }: { organizationId: string; projectId: string },
  page: { limit?: number | undefined; cursor?: string | undefined },
): Promise<{ audiences: StoredAudience[]; next_cursor?: string }> {
  const { rows, next } = await readPage<Row>(deps, page, {
    list: 'audiences',
    owner: projectId,
    sql: `SELECT ${columns} ${chosen}`,
    values: [organizationId, projectId],
    key: { created_at: 'timestamptz', id: 'uuid' },
  })
  return { audiences: rows.map(audienceOf), ...next }
}

/** Creates an audience with a pending first build. Throws 400 for an invalid definition. */
export async function createAudience(
  client: Queryable,
  projectId: string,
  {
    name,
    definition,
    intent_window_days = 30,
    refresh = 'manual',
  }: Omit<Static<typeof NewAudience>, 'project_id'>,
  audienceId = uuidV7(),
): Promise<string> {
  const parsed = parseDefinition(definition)
  await checkReferences(client, { projectId, audienceId: null }, parsed)
  await client.query(
    `INSERT INTO audiences (audience_id, project_id, name, entity, definition, intent_window_days, refresh)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      audienceId,
      projectId,
      name,
      parsed.entity,
      JSON.stringify(definition),
      intent_window_days,
      refresh,
    ],
  )
  await noteReferences(client, audienceId, parsed)
  await requestBuild(client, audienceId)
  return audienceId
}

/**
 * Changes the given fields. A build starts only if members may change, and until it ends the earlier build is
 * served. Throws 400 like createAudience. Call it with the row locked.
 */
export async function changeAudience(
  client: Queryable,
  audience: StoredAudience,
  { version: _, ...change }: Static<typeof AudienceChange>,
): Promise<void> {
  const { id, name, definition, intent_window_days, refresh } = { ...audience, ...change }
  if (change.definition) await changeReferences(client, audience, change.definition)
  await client.query(
    `UPDATE audiences SET name = $2, definition = $3, intent_window_days = $4, refresh = $5, version = version + 1,
       updated_at = now()
     WHERE audience_id = $1`,
    [id, name, JSON.stringify(definition), intent_window_days, refresh],
  )
  const [before, after] = [parseDefinition(audience.definition), parseDefinition(definition)]
  const isOtherWindow =
    leavesOf(after, 'intent').length > 0 && intent_window_days !== audience.intent_window_days
  if (isOtherWindow || meaningOf(after) !== meaningOf(before)) await requestBuild(client, id)
}

async function changeReferences(
  client: Queryable,
  audience: StoredAudience,
  definition: unknown,
): Promise<void> {
  const parsed: Parsed = parseDefinition(definition)
  if (parsed.entity !== audience.entity) {
    throw invalidAt('/definition/entity', `cannot change: this audience is of ${audience.entity}`)
  }
  await checkReferences(client, { projectId: audience.project_id, audienceId: audience.id }, parsed)
  await forgetReferences(client, audience.id)
  await noteReferences(client, audience.id, parsed)
}

/** Deletes an audience. Throws 409 "conflict" with the names of audiences or exports that use it. */
export async function deleteAudience(client: Queryable, audienceId: string): Promise<void> {
  const { rows } = await client.query<{ audience_id: string; name: string }>(
    `SELECT audience_id, name FROM audience_uses JOIN audiences USING (audience_id)
     WHERE used_id = $1 ORDER BY created_at`,
    [audienceId],
  )
  requireUnused(
    rows,
    (names) => `The audience ${names} uses it. Change or delete that audience first.`,
  )
  const { rows: campaigns } = await client.query<{ campaign_id: string; name: string }>(
    'SELECT campaign_id, name FROM campaigns WHERE audience_id = $1 ORDER BY created_at',
    [audienceId],
  )
  requireUnused(campaigns, (names) => `The campaign ${names} uses it. Change that campaign first.`)
  const { rows: exports } = await client.query<{ export_id: string; name: string }>(
    'SELECT export_id, name FROM exports WHERE audience_id = $1 ORDER BY export_id',
    [audienceId],
  )
  requireUnused(
    exports,
    (names) => `The export ${names} sends it. Change or delete that export first.`,
  )
  await client.query('DELETE FROM audiences WHERE audience_id = $1', [audienceId])
}

interface Row extends Omit<StoredAudience, 'meter'> {
  is_predictive: boolean
}

const audienceOf = ({ is_predictive, ...row }: Row): StoredAudience => ({
  ...row,
  meter: meterOf(is_predictive),
})
