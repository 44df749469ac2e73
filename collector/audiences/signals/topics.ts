import { invalidParameter } from '../../api/http/errors.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { ttlCache } from '../../platform/ttlCache.ts'

export interface Topic {
  readonly topic: string
  readonly label: string
  /** The parent topic; empty at the top of the tree. */
  readonly parent: string
}

/** Reads the vocabulary, in the order of the ids. */
export const readTopics = (clickhouse: Pick<ClickHouse, 'rows'>): Promise<Topic[]> =>
  clickhouse.rows<Topic>({
    sql: 'SELECT topic, label, parent FROM intent_topics FINAL ORDER BY topic',
  })

/** Most topics in an error. */
const namedMax = 10

/** The vocabulary of each database, cached for a second. */
const vocabularies = new WeakMap<ClickHouse, () => Promise<ReadonlySet<string>>>()

function vocabularyOf(clickhouse: ClickHouse): Promise<ReadonlySet<string>> {
  const vocabulary = vocabularies.get(clickhouse)
  if (vocabulary) return vocabulary()
  const read = ttlCache(
    async () => new Set((await readTopics(clickhouse)).map(({ topic }) => topic)),
  )
  vocabularies.set(clickhouse, () => read(''))
  return read('')
}

/** Throws 400 that names the unknown or duplicate topics of a list. */
export async function requireTopics(
  clickhouse: ClickHouse,
  parameter: string,
  topics: readonly string[],
): Promise<void> {
  const fault = await findFaultyTopics(clickhouse, topics)
  if (fault) throw invalidParameter(parameter, fault)
}

/** Describes the fault of a list of topics; null without one. */
export async function findFaultyTopics(
  clickhouse: ClickHouse,
  topics: readonly string[],
): Promise<string | null> {
  const twice = topics.find((topic, index) => topics.indexOf(topic) !== index)
  if (twice !== undefined) return `names ${shown(twice)} twice`
  const vocabulary = await vocabularyOf(clickhouse)
  const unknown = topics.filter((topic) => !vocabulary.has(topic))
  if (unknown.length === 0) return null
  const more = unknown.length > namedMax ? ` and ${unknown.length - namedMax} more` : ''
  return `there is no topic ${unknown.slice(0, namedMax).map(shown).join(', ')}${more}; GET /api/v1/taxonomy/topics lists them`
}

const shown = (topic: string): string => `"${topic.slice(0, 100)}"`
