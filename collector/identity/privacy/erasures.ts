import { type Static, Type } from 'typebox'
import { Choice, Id, Nullable, Timestamp } from '../../api/http/commonSchemas.ts'
import { dropDeadLetters } from '../../ingest/shipper/deadLetters.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { publishErasedUntil, readErasedUntil } from '../../platform/collectors.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { runEvery } from '../../platform/runEvery.ts'
import { readProfileHems } from '../store/people.ts'
import { profileTables } from '../store/profileSql.ts'
import { reloadIdentity } from '../store/refresh.ts'
import {
  hemsEverywhere,
  ofCookies,
  ofLinks,
  ofListMembers,
  ofMembers,
  ofProfiles,
} from './erasedRows.ts'
import { eraseSignals } from './eraseSignals.ts'
import { cookiesOfPerson, graph, hiddenPeopleChanged, privacyRequests } from './optOuts.ts'
import type { Subject } from './subject.ts'

export const Erasure = Type.Object(
  {
    erasure_id: Id,
    status: Type.Union([Type.Literal('pending'), Type.Literal('complete')]),
    step: Choice(['deleting', 'waiting', 'complete'], {
      description:
        '`deleting`: the service deletes stored data. `waiting`: no data is stored any more, but data that was received ' +
        'before the request may still arrive and is also deleted. `complete`: finished.',
    }),
    requested_at: Timestamp,
    emptied_at: Nullable(Timestamp, { description: 'Time when no data was stored any more.' }),
    complete_from: {
      ...Timestamp,
      description:
        'Earliest time of completion. It is later if a collector still has earlier data.',
    },
    completed_at: Nullable(Timestamp),
  },
  { title: 'Erasure' },
)
type Erasure = Static<typeof Erasure>

/** How long rows that another machine accepted earlier may be in transit; an erasure takes at least this long. */
export const arrivingMs = 10 * 60_000

const columns = `erasure_id, CASE WHEN finished_at IS NULL THEN 'pending' ELSE 'complete' END AS status,
  CASE WHEN finished_at IS NOT NULL THEN 'complete' WHEN emptied_at IS NOT NULL THEN 'waiting' ELSE 'deleting' END AS step,
  requested_at, emptied_at, requested_at + interval '${arrivingMs} ms' AS complete_from, finished_at AS completed_at`

/** Selects an organization's erasures ($1) for a page. */
export const selectErasures = `SELECT ${columns} FROM erasures WHERE organization_id = $1`

/**
 * Requests the erasure of a subject: for one organization, the data that its sites recorded. With null, data
 * of all organizations, including the operator's graph.
 */
export async function requestErasure(
  client: Queryable,
  organizationId: string | null,
  { hem, cookieId }: Subject,
): Promise<Erasure> {
  const [erasure] = await readRecords<Erasure>(
    client,
    `INSERT INTO erasures (organization_id, hem, cookie_ids) VALUES ($1, $2, $3) RETURNING ${columns}`,
    [organizationId, hem, cookieId ? [cookieId] : []],
  )
  await wakeQueue(client, privacyRequests)
  await wakeQueue(client, hiddenPeopleChanged)
  return erasure!
}

export async function readErasure(
  client: Queryable,
  erasureId: string,
  organizationId: string | null = null,
): Promise<Erasure | undefined> {
  const [erasure] = await readRecords<Erasure>(
    client,
    `SELECT ${columns} FROM erasures WHERE erasure_id = $1 AND ($2::uuid IS NULL OR organization_id = $2)`,
    [erasureId, organizationId],
  )
  return erasure
}

export interface ErasureDeps {
  postgres: Postgres
  /** The events of visitors. */
  clickhouse: ClickHouse
}

interface Unfinished {
  erasure_id: string
  organization_id: string | null
  hem: string | null
  cookie_ids: string[]
  requested_at: Date
}
/** How many erasures run at a time. */
const erasuresMax = 1_000

/**
 * Erases events, rejected events, links and profiles once. An erasure ends when nothing is left and the
 * request is ten minutes old. Every collector must also have shipped the events it had accepted by then, and
 * removed its dead letters (`keepErasing`). Then the subject is deleted too. Returns true while rows were left.
 */
export async function carryOutErasures({ postgres, clickhouse }: ErasureDeps): Promise<boolean> {
  const erasures = await readUnfinished(postgres)
  if (erasures.length === 0) return false
  const erasedUntil = await readErasedUntil(postgres)
  await noteCookies(postgres, clickhouse, erasures)
  await deleteMessages(postgres, erasures)

  // Profiles belong to the operator, so only erasures everywhere delete them.
  const profileHems = await readProfileHems(clickhouse, hemsEverywhere(erasures))
  // Links identify the cookies, so they are deleted last.
  const left = await Promise.all([
    deleteEach(clickhouse, 'events', ofCookies(erasures)),
    deleteEach(clickhouse, 'hits', ofCookies(erasures)),
    deleteEach(clickhouse, 'rejected_events', ofCookies(erasures)),
    deleteEach(clickhouse, 'audience_leaf_days', ofCookies(erasures)),
    deleteEach(clickhouse, 'intent_event_days', ofCookies(erasures)),
    eraseSignals(clickhouse, hemsEverywhere(erasures)),
    deleteRows(clickhouse, 'audience_members', ofMembers(erasures)),
    deleteEach(clickhouse, 'list_members', ofListMembers(erasures)),
    ...profileTables.map(({ table, hem }) =>
      deleteEach(clickhouse, table, ofProfiles(profileHems, hem)),
    ),
  ])
  left.push(
    await deleteEach(
      clickhouse,
      'identity_links',
      ofLinks(erasures),
      'SETTINGS mutations_sync = 2',
    ),
  )
  if (left.includes(true)) {
    await reloadIdentity(clickhouse)
    return true
  }
  await postgres.query(
    'UPDATE erasures SET emptied_at = now() WHERE erasure_id = ANY($1) AND emptied_at IS NULL',
    [erasures.map(({ erasure_id }) => erasure_id)],
  )
  await postgres.query(
    `UPDATE erasures SET finished_at = now(), hem = NULL, cookie_ids = '{}'
     WHERE erasure_id = ANY($1) AND requested_at < $2 AND requested_at < $3`,
    [
      erasures.map(({ erasure_id }) => erasure_id),
      new Date(Date.now() - arrivingMs),
      new Date(Math.min(erasedUntil, Date.now())),
    ],
  )
  return false
}

/** Deletes the rows of each of these conditions, like deleteRows. Returns true if there were any. */
async function deleteEach(
  clickhouse: ClickHouse,
  table: string,
  conditions: readonly Query[],
  settings?: string,
): Promise<boolean> {
  let areLeft = false
  for (const condition of conditions)
    if (await deleteRows(clickhouse, table, condition, settings)) areLeft = true
  return areLeft
}

/** Reads erasures to carry out. Organizations take turns, so that thousands of one delay only its own. */
async function readUnfinished(postgres: Postgres): Promise<Unfinished[]> {
  const { rows } = await postgres.query<Unfinished>(
    `SELECT erasure_id, organization_id, hem, cookie_ids, requested_at FROM erasures
     WHERE finished_at IS NULL
     ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY requested_at), requested_at LIMIT ${erasuresMax}`,
  )
  return rows
}

/** Reads all unfinished erasures, a part at a time: the next round of carryOutErasures may finish any of them. */
async function* everyUnfinished(postgres: Postgres): AsyncGenerator<readonly Unfinished[]> {
  for (let after: string | null = null; ; ) {
    const { rows }: { rows: Unfinished[] } = await postgres.query<Unfinished>(
      `SELECT erasure_id, organization_id, hem, cookie_ids, requested_at FROM erasures
       WHERE finished_at IS NULL AND ($1::uuid IS NULL OR erasure_id > $1) ORDER BY erasure_id LIMIT ${erasuresMax}`,
      [after],
    )
    if (rows.length > 0) yield rows
    if (rows.length < erasuresMax) return
    after = rows.at(-1)!.erasure_id
  }
}

const eraseMs = 2_000

/**
 * Performs a collector's part of erasures, on any machine. It removes its dead letters of the erased people.
 * Then it publishes the time until which it has shipped its accepted events.
 */
export const keepErasing = ({
  postgres,
  collectorId,
  deadLetterDirectory,
  oldestWaitingAt,
  log,
}: {
  postgres: Postgres
  collectorId: string
  deadLetterDirectory: string
  /**
   * When the oldest waiting row of this machine's spool was received, epoch milliseconds; Infinity if none
   * waits.
   */
  oldestWaitingAt(): number
  log: WarnLog
}) =>
  runEvery(
    eraseMs,
    async () => {
      // Read before the search, because events shipped during the search may become dead letters.
      const mark = Math.min(oldestWaitingAt(), Date.now())
      for await (const erasures of everyUnfinished(postgres))
        dropDeadLetters(deadLetterDirectory, (row) =>
          erasures.some((erasure) => isAbout(erasure, row)),
        )
      await publishErasedUntil(postgres, collectorId, mark)
    },
    (error) => log.warn({ error: error.message }, 'erasures wait for this collector'),
  )

/** Records the browsers of people whose links are deleted: more events may arrive. */
async function noteCookies(
  client: Queryable,
  clickhouse: ClickHouse,
  erasures: readonly Unfinished[],
): Promise<void> {
  for (const erasure of erasures) {
    const { erasure_id, organization_id, hem } = erasure
    if (hem === null) continue
    const found = await cookiesOfPerson(
      clickhouse,
      organization_id === null ? null : [organization_id, graph],
      hem,
    )
    const cookies = new Set([...erasure.cookie_ids, ...found])
    if (cookies.size === erasure.cookie_ids.length) continue
    erasure.cookie_ids = [...cookies]
    await client.query('UPDATE erasures SET cookie_ids = $2 WHERE erasure_id = $1', [
      erasure_id,
      erasure.cookie_ids,
    ])
  }
}

/** Deletes messages of visit alerts, whose data names the visitor. */
async function deleteMessages(client: Queryable, erasures: readonly Unfinished[]): Promise<void> {
  await client.query(
    `DELETE FROM outbox_messages USING unnest($1::uuid[], $2::text[]) AS erased (organization_id, value)
     WHERE type = 'visit.matched'
       AND (erased.organization_id IS NULL OR outbox_messages.organization_id = erased.organization_id)
       AND (data -> 'visitor' ->> 'hem' = value OR data -> 'visitor' ->> 'cookie_id' = value)`,
    [
      erasures.flatMap(({ organization_id, hem, cookie_ids }) =>
        [...(hem === null ? [] : [hem]), ...cookie_ids].map(() => organization_id),
      ),
      erasures.flatMap(({ hem, cookie_ids }) => [...(hem === null ? [] : [hem]), ...cookie_ids]),
    ],
  )
}

const isAbout = ({ organization_id, hem, cookie_ids }: Unfinished, row: string): boolean =>
  (organization_id === null || row.includes(organization_id)) &&
  (cookie_ids.some((cookie) => row.includes(cookie)) || (hem !== null && row.includes(hem)))
