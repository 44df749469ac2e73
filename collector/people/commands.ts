import { parseArgs } from 'node:util'
import { type ClickHouse, ClickHouseRefused } from '../platform/clickhouse/client.ts'
import { StartError } from '../platform/startError.ts'
import { writeGraph } from './generate/files.ts'
import { load } from './load/load.ts'
import { readLoadRequest } from './load/options.ts'
import { openProgressBar } from './load/progressBar.ts'

/** `npx footfall identity …`. Throws StartError, which says in one line what is wrong. */
export async function runIdentityCommand(
  openStore: () => Promise<ClickHouse>,
  name: 'load' | 'generate',
  args: readonly string[],
): Promise<void> {
  if (name === 'load') await loadFiles(openStore, args)
  else await generate(args)
}

async function loadFiles(openStore: () => Promise<ClickHouse>, args: readonly string[]): Promise<void> {
  const request = await readLoadRequest(args)
  const sizes = request.sources.map(({ bytes }) => bytes)
  const totalBytes = sizes.includes(null) ? null : sizes.reduce<number>((sum, bytes) => sum + bytes!, 0)
  const clickhouse = await openStore()
  const bar = openProgressBar(process.stderr, totalBytes)
  const startedAtMs = Date.now()
  try {
    const { rows, rejected, isResumed } = await load(clickhouse, request, bar.show).finally(bar.clear)
    const seconds = (Date.now() - startedAtMs) / 1_000
    console.log(
      `${rows.toLocaleString('en')} rows loaded into ${request.target.table}${isResumed ? ', part of them before' : ''}, in ${seconds.toFixed(1)} s`,
    )
    if (rejected > 0) {
      console.log(`${rejected.toLocaleString('en')} rows rejected, see ${request.rejectedPath}`)
    }
  } catch (error) {
    if (!(error instanceof ClickHouseRefused)) throw error
    throw new StartError(`ClickHouse refuses it: ${error.message.split('\n')[0]}`)
  } finally {
    await clickhouse.close()
  }
}

async function generate(args: readonly string[]): Promise<void> {
  const { values } = parse(args)
  if (!values.out) throw new StartError('--out is the directory to write to')
  const whole = (name: 'profiles' | 'cookies' | 'companies' | 'seed') => {
    const value = Number(values[name])
    if (!Number.isSafeInteger(value) || value < 1) throw new StartError(`--${name} is a whole number above 0`)
    return value
  }
  const files = await writeGraph(values.out, whole('seed'), {
    profiles: whole('profiles'),
    cookies: whole('cookies'),
    companies: whole('companies'),
  })
  for (const [target, path] of Object.entries(files))
    console.log(`npx footfall identity load --into ${target} ${path}`)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        out: { type: 'string' },
        profiles: { type: 'string', default: '10000' },
        cookies: { type: 'string', default: '20000' },
        companies: { type: 'string', default: '500' },
        seed: { type: 'string', default: '1' },
      },
    })
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}
