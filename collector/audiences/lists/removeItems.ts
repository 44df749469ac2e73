import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { itemsQuery } from './import/linesQuery.ts'
import { columnOf, type Kind } from './kinds.ts'
import type { Reason } from './reasons.ts'

export interface RemovedItems {
  readonly removed: number
  /** Items that were not members, or were repeated. */
  readonly not_found: number
  readonly rejected: readonly { line: number; reason: Reason }[]
}

/** A value of ClickHouse has at most 128 KiB, and a member at most 80 bytes. */
const atOnce = { items: 400, bytes: 32 * 1024 }
/** A longer text cannot be an item. */
const itemCharsMax = 400

/** Removes items from a list, regardless of the import that added them. Call it under the list's lease. */
export async function removeItems(
  clickhouse: ClickHouse,
  list: { listId: string; kind: Kind; notCompleted: readonly string[] },
  items: readonly unknown[],
): Promise<RemovedItems> {
  const rejected: { line: number; reason: Reason }[] = []
  let removed = 0
  let before = 0
  for (const some of batchesOf(items)) {
    const removal = await removeSome(clickhouse, list, some)
    removed += removal.removed
    for (const { line, reason } of removal.rejected) rejected.push({ line: before + line, reason })
    before += some.length
  }
  return { removed, not_found: items.length - rejected.length - removed, rejected }
}

function* batchesOf(items: readonly unknown[]): Generator<string[]> {
  let [batch, bytes]: [string[], number] = [[], 0]
  for (const item of items) {
    const text =
      typeof item !== 'string'
        ? ''
        : item.length <= itemCharsMax
          ? item
          : item.trim().slice(0, itemCharsMax)
    bytes += Buffer.byteLength(text)
    if (batch.length === atOnce.items || bytes > atOnce.bytes) {
      yield batch
      ;[batch, bytes] = [[], Buffer.byteLength(text)]
    }
    batch.push(text)
  }
  if (batch.length > 0) yield batch
}

async function removeSome(
  clickhouse: ClickHouse,
  { listId, kind, notCompleted }: { listId: string; kind: Kind; notCompleted: readonly string[] },
  items: readonly string[],
): Promise<Pick<RemovedItems, 'removed' | 'rejected'>> {
  const read = itemsQuery(kind, items)
  const lines = await clickhouse.rows<{ line: number; reason: Reason | ''; member: string }>(read)
  const rejected = lines.flatMap(({ line, reason }) => (reason === '' ? [] : [{ line, reason }]))
  const members = [
    ...new Set(lines.flatMap(({ reason, member }) => (reason === '' ? [member] : []))),
  ]
  const column = columnOf[kind]
  const isNamed = `list_id = {listId:UUID} AND ${column} IN arrayMap(member -> ${readerOf[column]}(member), {members:Array(String)})`
  const [row] = await clickhouse.rows<{ count: number }>({
    sql: `SELECT uniqExact(${column}) AS count FROM list_members
          WHERE ${isNamed} AND import_id NOT IN {notCompleted:Array(UUID)}`,
    params: { listId, members, notCompleted },
  })
  const removed = row!.count
  if (removed > 0) {
    await clickhouse.command({
      sql: `DELETE FROM list_members WHERE ${isNamed} AND import_id NOT IN {notCompleted:Array(UUID)}`,
      params: { listId, members, notCompleted },
    })
  }
  return { removed, rejected }
}

const readerOf = {
  hem_number: 'toUInt256',
  company_domain: 'toString',
  cookie_id: 'toUUID',
} as const
