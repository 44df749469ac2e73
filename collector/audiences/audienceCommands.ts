import { setTimeout as delay } from 'node:timers/promises'
import { isUuid } from '../../schemas/uuid.ts'
import { formatShare, type Screen } from '../identity/load/progressBar.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { StartError } from '../platform/startError.ts'
import { readBuild, requestBuild } from './builds.ts'

const lookEveryMs = 200

/** `npx footfall-server audiences build ID`: requests a build, and shows its progress. */
export async function buildAudience(
  postgres: Postgres,
  audienceId: string,
  screen: Screen = process.stderr,
): Promise<void> {
  const { rowCount } = isUuid(audienceId)
    ? await postgres.query('SELECT FROM audiences WHERE audience_id = $1', [audienceId])
    : { rowCount: 0 }
  if (rowCount === 0) throw new StartError(`there is no audience ${audienceId}`)
  const buildId = await inTransaction(postgres, (client) => requestBuild(client, audienceId))
  for (let shown = ''; ; await delay(lookEveryMs)) {
    const build = await readBuild(postgres, buildId)
    if (!build) throw new StartError('the audience was deleted')
    const { status, progress, count, error } = build
    if (status === 'completed' || status === 'failed') {
      if (screen.isTTY) screen.write(clearLine)
      if (status === 'failed') throw new StartError(`the build failed: ${error}`)
      console.log(`${count!.toLocaleString('en')} members: build ${buildId}`)
      return
    }
    const line = `${formatShare(progress)} · ${status === 'pending' ? 'waiting' : 'building'}`
    if (line !== shown) screen.write(screen.isTTY ? `${clearLine}${line}` : `${line}\n`)
    shown = line
  }
}

const clearLine = '\r\x1b[2K'
