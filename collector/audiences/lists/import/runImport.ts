import { open } from 'node:fs/promises'
import { hemNumber } from '../../../../schemas/fields.ts'
import type { Allowance } from '../../../billing/allowance.ts'
import { type Bind, bindings } from '../../../events/query/bind.ts'
import { clickhouseOf } from '../../../events/query/eventStores.ts'
import {
  erasedHems,
  isSuppressed,
  suppressedPeople,
} from '../../../events/query/profiles/suppressedPeople.ts'
import { hemsWithProfile } from '../../../identity/store/profileSql.ts'
import type { ClickHouse, Query } from '../../../platform/clickhouse/client.ts'
import { withLease } from '../../../platform/postgres/lease.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { type Chunk, chunkBytes, readChunk } from '../file/readChunk.ts'
import {
  beginImport,
  completeImport,
  noteProgress,
  type PendingImport,
  type RowCounts,
  readNotCompleted,
} from '../imports.ts'
import { columnOf, type Kind } from '../kinds.ts'
import type { Uploads } from '../upload/uploads.ts'
import { encodedRowsQuery, type LinesOf, plainLinesQuery } from './linesQuery.ts'

export interface ImportDeps {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
  readonly uploads: Uploads
  /** Each import takes a free answer from it. */
  readonly allowance: Pick<Allowance, 'takeForWork'>
}

/** How long an import waits for the end of another one of its list. */
const listWaitMs = 60_000

/**
 * Imports an uploaded file in chunks; another call continues an interrupted import. Returns the counts of its
 * rows; undefined if the import has ended or was deleted. Throws LeaseHeldError if another import of the list
 * takes too long to end.
 */
export async function runImport(
  deps: ImportDeps,
  importId: string,
  signal?: AbortSignal,
): Promise<RowCounts | undefined> {
  const { postgres, uploads, allowance } = deps
  const pending = await beginImport(postgres, importId)
  if (!pending) return undefined
  const clickhouse = clickhouseOf(deps, pending.organizationId)
  const total = await insertRows(deps, clickhouse, pending, signal)
  // Imports of a list end one after another, so that a member of two imports is a duplicate in one.
  const counts = await withLease(
    postgres,
    pending.listId,
    async (lease) => {
      const notCompleted = await readNotCompleted(postgres, [pending.listId])
      const erased = await erasedHems(postgres, pending.organizationId)
      const rowCounts = await countRows(clickhouse, { ...pending, total, notCompleted, erased })
      await lease.inTransaction((client) => completeImport(client, allowance, pending, rowCounts))
      return rowCounts
    },
    listWaitMs,
  )
  await uploads.remove(importId)
  return counts
}

/** Inserts the rest of the file, two chunks at a time, and returns the number of all rows. */
async function insertRows(
  { postgres, uploads }: ImportDeps,
  clickhouse: ClickHouse,
  pending: PendingImport,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { importId, file } = pending
  const handle = await open(uploads.pathOf(importId))
  const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)] as const
  let { at, rows } = pending
  let before: { chunk: Chunk; inserted: Promise<void> } | null = null
  const settle = async (): Promise<void> => {
    if (!before) return
    const { chunk, inserted } = before
    await inserted
    rows += chunk.rows
    await noteProgress(postgres, importId, chunk.begin, { at: chunk.end, rows })
    before = null
  }
  try {
    for (let turn = 0; ; turn++) {
      signal?.throwIfAborted()
      const chunk: Chunk | null = await readChunk(handle, file, at, buffers[turn % 2]!)
      if (!chunk) break
      at = chunk.end
      const inserted = insertChunk(clickhouse, pending, chunk)
      // Awaited after the next chunk has started.
      inserted.catch(() => {})
      await settle()
      before = { chunk, inserted }
    }
    await settle()
    return rows
  } finally {
    await Promise.allSettled(before ? [(before as { inserted: Promise<void> }).inserted] : [])
    await handle.close()
  }
}

/** One thread reads the rows in order, which gives their positions; two chunks use two. */
const settings = {
  max_threads: 1,
  input_format_parallel_parsing: 0,
  max_memory_usage: 512 * 1024 ** 2,
  max_execution_time: 100,
  // None of these expressions throws, and lazy evaluation takes four times as long.
  short_circuit_function_evaluation: 'disable',
  // Duplicates within a part cost readers nothing, because they merge duplicates of all parts.
  optimize_on_insert: 0,
}

/** Inserts members, or rejected lines. A repeat replaces the same rows. */
async function insertChunk(clickhouse: ClickHouse, lines: LinesOf, chunk: Chunk): Promise<void> {
  const query = chunk.as === 'lines' ? plainLinesQuery : encodedRowsQuery
  await clickhouse.feed(query(lines, chunk.begin.lines), chunk.bytes, settings)
}

interface Counted {
  readonly importId: string
  readonly listId: string
  readonly organizationId: string
  readonly kind: Kind
  readonly total: number
  /** Other imports of the list whose rows are not members (yet). */
  readonly notCompleted: readonly string[]
  /** Hems of people who are being erased. */
  readonly erased: readonly string[]
}

/** Most rows that one statement reads, which limits its memory. */
const rowsAtOnceMax = 2_000_000

export async function countRows(
  clickhouse: ClickHouse,
  counted: Counted,
  rowsAtOnce = rowsAtOnceMax,
): Promise<RowCounts> {
  const { importId, listId, total } = counted
  const [counts] = await clickhouse.rows<{ rejected: number; others: number }>({
    sql: `SELECT
            (SELECT count() FROM list_rejected_lines FINAL
             WHERE list_id = {listId:UUID} AND import_id = {importId:UUID}) AS rejected,
            (SELECT count() FROM (SELECT 1 FROM list_members
             WHERE list_id = {listId:UUID} AND import_id != {importId:UUID}
               AND import_id NOT IN {notCompleted:Array(UUID)} LIMIT 1)) AS others`,
    params: { importId, listId, notCompleted: counted.notCompleted },
  })
  const { rejected, others } = counts!
  const rows = total - rejected
  const plan: Plan = { ...counted, hasOthers: others > 0 }
  const shares = Math.max(1, Math.ceil(rows / rowsAtOnce))
  let [members, matched] = [0, 0]
  for (let share = 0; share < shares; share++) {
    const [of] = await clickhouse.rows<{ members: number; matched: number }>(
      newMembersQuery(plan, share, shares),
    )
    members += of!.members
    matched += of!.matched
  }
  return { total, matched, unmatched: members - matched, duplicate: rows - members, rejected }
}

interface Plan extends Counted {
  /** Whether other imports have added members. */
  readonly hasOthers: boolean
}

/**
 * Selects how many members an import adds to its list, and how many of them are known, for one of several shares. A
 * member may be in several rows. A set of the members of a share takes less time than FINAL or GROUP BY.
 */
export function newMembersQuery(plan: Plan, share: number, shares: number): Query {
  const { importId, listId, kind, notCompleted } = plan
  const { bind, params } = bindings()
  const column = columnOf[kind]
  const isOfShare = shares === 1 ? () => 'true' : shareOf(column, share, shares)
  const [list, itself, others] = [
    bind('UUID', listId),
    bind('UUID', importId),
    bind('Array(UUID)', notCompleted),
  ]
  const rows = `list_members WHERE list_id = ${list} AND ${isOfShare(column)}`
  const added = `${rows} AND import_id = ${itself}`
  const key = keyOf[kind]
  return {
    sql: `SELECT uniqExact(${key}) AS members, uniqExactIf(${key}, ${isKnownOf[kind](added, plan, bind)}) AS matched
FROM ${added}
${plan.hasOthers ? `AND ${column} NOT IN (SELECT ${column} FROM ${rows} AND import_id != ${itself} AND import_id NOT IN ${others})` : ''}
SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100`,
    params,
  }
}

/**
 * SQL that identifies members. For hems computed here half of the hem is enough, in two thirds of the time:
 * no two known addresses share it. Given hems are compared completely, because their senders may choose them.
 */
const keyOf: Readonly<Record<Kind, string>> = { ...columnOf, emails: 'toUInt128(hem_number)' }

type IsKnown = (
  added: string,
  counted: Pick<Counted, 'organizationId' | 'erased'>,
  bind: Bind,
) => string

/** A person whom a lookup returns: with a profile, and neither opted out nor being erased. */
const isKnownPerson: IsKnown = (added, { organizationId, erased }, bind) =>
  `hem_number IN (${hemsWithProfile(`SELECT hem_number FROM ${added}`)})
    AND NOT ${isSuppressed('hem_number', suppressedPeople(organizationId, erased, bind))}`

/**
 * SQL: whether an added row matches. People and companies match if a lookup returns them, browsers if the identity graph
 * resolves them to a person.
 */
const isKnownOf: Readonly<Record<Kind, IsKnown>> = {
  emails: isKnownPerson,
  hems: isKnownPerson,
  domains: (added) =>
    `company_domain IN (
      SELECT company_domain FROM companies WHERE company_domain IN (SELECT company_domain FROM ${added}))`,
  cookies: () => `${hemNumber} != 0`,
}

type IsOne = (item: string) => string

/** A condition for the items of a share. Hems are evenly distributed, so shares are ranges. */
function shareOf(column: (typeof columnOf)[Kind], share: number, shares: number): IsOne {
  if (column !== 'hem_number') return (item) => `cityHash64(${item}) % ${shares} = ${share}`
  const limit = (of: number) => `toUInt256('${(2n ** 256n * BigInt(of)) / BigInt(shares)}')`
  return share === shares - 1
    ? (item) => `${item} >= ${limit(share)}`
    : (item) => `(${item} >= ${limit(share)} AND ${item} < ${limit(share + 1)})`
}
