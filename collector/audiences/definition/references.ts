import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { AudienceLeaf, EventLeaf, ListLeaf, Parsed } from './definition.ts'
import { invalidAt } from './invalid.ts'

/** Owner of the definition: a new audience, or an existing one that might use itself. */
interface Owner {
  readonly projectId: string
  readonly audienceId: string | null
}

/**
 * Looks up the pixels, lists and audiences of a definition in its project; audiences must have the same
 * entity. Throws 400 with the JSON pointer of a missing one, or one that would make an audience use itself.
 * The found objects may change before the transaction ends, unless the project's audiences are locked.
 */
export async function checkReferences(
  client: Queryable,
  owner: Owner,
  { leaves, entity }: Parsed,
): Promise<void> {
  const pixels = leaves.filter((leaf): leaf is EventLeaf => leaf.kind === 'event')
  const ownPixels = await pixelsOf(client, owner.projectId, pixels)
  const unknown = pixels.find(({ pixelId }) => pixelId !== null && !ownPixels.has(pixelId))
  if (unknown)
    throw invalidAt(`${unknown.pointer}/pixel_id`, 'no pixel of this project has this id')

  const lists = leaves.filter((leaf): leaf is ListLeaf => leaf.kind === 'list')
  const knownLists = await listsOf(client, owner.projectId, lists)
  const unknownList = lists.find(({ listId }) => !knownLists.has(listId))
  if (unknownList)
    throw invalidAt(`${unknownList.pointer}/list_id`, 'no list of this project has this id')

  const audiences = leaves.filter((leaf): leaf is AudienceLeaf => leaf.kind === 'audience')
  if (audiences.length === 0) return
  const used = await audiencesOf(client, owner, audiences)
  for (const { audienceId, pointer } of audiences) {
    const place = `${pointer}/audience_id`
    const audience = used.get(audienceId)
    if (!audience) throw invalidAt(place, 'no audience of this project has this id')
    if (audience.entity !== entity)
      throw invalidAt(place, `is an audience of ${audience.entity}, not of ${entity}`)
    if (audience.is_cycle) throw invalidAt(place, 'must not make the audience use itself')
  }
}

async function pixelsOf(
  client: Queryable,
  projectId: string,
  leaves: readonly EventLeaf[],
): Promise<ReadonlySet<string>> {
  const pixelIds = leaves.map(({ pixelId }) => pixelId).filter((id) => id !== null)
  if (pixelIds.length === 0) return new Set()
  const { rows } = await client.query<{ pixel_id: string }>(
    'SELECT pixel_id FROM pixels WHERE project_id = $1 AND pixel_id = ANY($2)',
    [projectId, pixelIds],
  )
  return new Set(rows.map(({ pixel_id }) => pixel_id))
}

/** Locked, so that no list is deleted before the definition is stored. */
async function listsOf(
  client: Queryable,
  projectId: string,
  leaves: readonly ListLeaf[],
): Promise<ReadonlySet<string>> {
  if (leaves.length === 0) return new Set()
  const { rows } = await client.query<{ list_id: string }>(
    'SELECT list_id FROM lists WHERE project_id = $1 AND list_id = ANY($2) FOR KEY SHARE',
    [projectId, leaves.map(({ listId }) => listId)],
  )
  return new Set(rows.map(({ list_id }) => list_id))
}

/** Reads the audiences in leaves, and whether any of them uses the owner, directly or indirectly. */
async function audiencesOf(
  client: Queryable,
  { projectId, audienceId }: Owner,
  leaves: readonly AudienceLeaf[],
): Promise<ReadonlyMap<string, { entity: string; is_cycle: boolean }>> {
  const { rows } = await client.query<{ audience_id: string; entity: string; is_cycle: boolean }>(
    `WITH RECURSIVE reached (start_id, audience_id) AS (
       SELECT audience_id, audience_id FROM audiences
       WHERE project_id = $1 AND audience_id = ANY($2) AND list_id IS NULL
       UNION SELECT start_id, used_id FROM reached JOIN audience_uses USING (audience_id)
     )
     SELECT audiences.audience_id, entity,
       EXISTS (SELECT FROM reached WHERE start_id = audiences.audience_id AND reached.audience_id = $3) AS is_cycle
     FROM audiences WHERE project_id = $1 AND audience_id = ANY($2) AND list_id IS NULL`,
    [projectId, leaves.map((leaf) => leaf.audienceId), audienceId],
  )
  return new Map(rows.map((row) => [row.audience_id, row]))
}

/** Records which audiences and lists a definition uses, so that they cannot be deleted. */
export async function noteReferences(
  client: Queryable,
  audienceId: string,
  { leaves }: Parsed,
): Promise<void> {
  const used = leaves.filter((leaf) => leaf.kind === 'audience').map((leaf) => leaf.audienceId)
  await client.query(
    'INSERT INTO audience_uses (audience_id, used_id) SELECT $1, id FROM unnest($2::uuid[]) AS id ON CONFLICT DO NOTHING',
    [audienceId, used],
  )
  const lists = leaves.filter((leaf) => leaf.kind === 'list').map((leaf) => leaf.listId)
  await client.query(
    'INSERT INTO audience_lists (audience_id, list_id) SELECT $1, id FROM unnest($2::uuid[]) AS id ON CONFLICT DO NOTHING',
    [audienceId, lists],
  )
}

export async function forgetReferences(client: Queryable, audienceId: string): Promise<void> {
  await client.query('DELETE FROM audience_uses WHERE audience_id = $1', [audienceId])
  await client.query('DELETE FROM audience_lists WHERE audience_id = $1', [audienceId])
}
