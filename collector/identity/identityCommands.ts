import { parseArgs } from 'node:util'
import type { ClickHouse } from '../platform/clickhouse/client.ts'
import { StartError } from '../platform/startError.ts'
import { writeGraph } from './generate/files.ts'
import { loadFiles } from './load/loadFiles.ts'
import { readLoadRequest } from './load/options.ts'
import { targets } from './load/targets.ts'

/** Runs `npx footfall-server identity …`. Throws StartError with one line that names the fault. */
export async function runIdentityCommand(
  openStore: () => Promise<ClickHouse>,
  name: 'load' | 'generate',
  args: readonly string[],
): Promise<void> {
  if (name === 'load') await loadFiles(openStore, await readLoadRequest(args, targets, 'profiles'))
  else await generate(args)
}

async function generate(args: readonly string[]): Promise<void> {
  const { values } = parse(args)
  if (!values.out) throw new StartError('--out requires a directory to write to')
  const whole = (name: 'profiles' | 'cookies' | 'companies' | 'seed') => {
    const value = Number(values[name])
    if (!Number.isSafeInteger(value) || value < 1)
      throw new StartError(`--${name} must be a whole number above 0`)
    return value
  }
  const files = await writeGraph(values.out, whole('seed'), {
    profiles: whole('profiles'),
    cookies: whole('cookies'),
    companies: whole('companies'),
  })
  for (const [target, path] of Object.entries(files))
    console.log(`npx footfall-server identity load --into ${target} ${path}`)
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
