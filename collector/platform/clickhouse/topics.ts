import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../paths.ts'
import type { ClickHouse } from './client.ts'

/** The topics that come with the service: a file as operators load their own. */
export const shippedTopics = join(packageRoot, 'schemas/topics.csv')

/**
 * Makes sure that the vocabulary has the topics that come with the service, as they are in this release. Topics that
 * the operator loaded under the same id stay as loaded, and where these took the place of all, nothing is added.
 */
export async function syncTopics(clickhouse: ClickHouse): Promise<void> {
  const params = { file: readFileSync(shippedTopics, 'utf8') }
  const shipped = "updated_at = toDateTime64(0, 3, 'UTC')"
  const lacking = `
    FROM format(CSVWithNames, 'topic String, label String, parent String', {file:String})
    WHERE (topic, label, parent) NOT IN (SELECT topic, label, parent FROM intent_topics)
      AND topic NOT IN (SELECT topic FROM intent_topics WHERE NOT ${shipped})
      AND (SELECT count() = 0 OR countIf(${shipped}) > 0 FROM intent_topics)`
  const [found] = await clickhouse.rows<{ count: number }>({
    sql: `SELECT count() AS count ${lacking}`,
    params,
  })
  if (found!.count === 0) return
  await clickhouse.command({
    sql: `INSERT INTO intent_topics (topic, label, parent, updated_at)
          SELECT topic, label, parent, toDateTime64(0, 3, 'UTC') ${lacking}`,
    params,
  })
}
