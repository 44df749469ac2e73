/** A process that runs a queue whose job never ends; says so, and is killed. Arguments: where PostgreSQL is, the queue. */

import { wakeQueue } from '../../collector/platform/jobs/queue.ts'
import { startJobs } from '../../collector/platform/jobs/startJobs.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'

const [postgresUrl, name] = process.argv.slice(2) as [string, string]
const postgres = openPostgres(postgresUrl, () => {})
const run = () => {
  console.log('running')
  return new Promise<void>(() => {})
}
await startJobs({
  postgres,
  postgresUrl,
  log: { warn: console.error },
  queues: [{ name, schedule: '0 0 1 1 *', run }],
})
await wakeQueue(postgres, name)
