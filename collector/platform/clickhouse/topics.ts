import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { packageRoot } from '../paths.ts'
import type { ClickHouse } from './client.ts'

interface Row {
  readonly topic: string
  readonly label: string
  /** Empty at the top of the tree. */
  readonly parent: string
}

/** Reads the topics of this release, in the file format in which operators load topics. */
const readShippedTopics = (): Row[] =>
  readFileSync(join(packageRoot, 'schemas/topics.ndjson'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => ({ parent: '', ...(JSON.parse(line) as Omit<Row, 'parent'> & Partial<Row>) }))

/** The version of topics of this release: every loaded topic is newer. */
const shippedAt = '1970-01-01T00:00:00Z'

/**
 * Ensures that the vocabulary has the topics of this release. Topics that the operator loaded with the same
 * id stay unchanged. Adds none if the vocabulary has only loaded topics.
 */
export async function syncTopics(clickhouse: ClickHouse): Promise<void> {
  const present = await clickhouse.rows<Row & { is_shipped: 0 | 1 }>({
    sql: 'SELECT topic, label, parent, toUnixTimestamp64Milli(updated_at) = 0 AS is_shipped FROM intent_topics FINAL',
  })
  if (present.length > 0 && !present.some(({ is_shipped }) => is_shipped)) return
  const known = new Map(present.map((row) => [row.topic, row]))
  const lacking = readShippedTopics().filter(({ topic, label, parent }) => {
    const row = known.get(topic)
    return !row || (row.is_shipped && (row.label !== label || row.parent !== parent))
  })
  if (lacking.length === 0) return
  const rows = lacking.map((row) => `${JSON.stringify({ ...row, updated_at: shippedAt })}\n`)
  await clickhouse.insertLines(
    'intent_topics',
    Readable.from(rows, { objectMode: false }),
    'topics',
  )
}
