/** `npx footfall-server`: help and hints, at once and without stores. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { quickest } from '../harness/timing.ts'

const run = (...args: string[]) => runWith({}, ...args)

const runWith = (env: Record<string, string>, ...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(packageRoot, 'collector/ops/launch/footfall.mjs'), ...args],
      { env: { ...process.env, FOOTFALL_DATA_DIR: join(tmpdir(), 'footfall-nowhere'), ...env } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })

const commands = [
  '',
  'serve',
  'setup',
  'reset-password',
  'check',
  'dead-letters',
  'dead-letters list',
  'dead-letters replay',
  'jobs',
  'jobs retry',
  'billing',
  'billing shut-off',
  'billing resume',
  'billing customer',
  'billing price',
  'billing reports',
  'billing check',
  'privacy',
  'privacy erase',
  'privacy opt-out',
  'migrate',
  'doctor',
  'backup',
  'restore',
  'spool',
  'spool ship',
  'privacy opt-in',
  'privacy status',
  'identity',
  'identity load',
  'identity generate',
  'events',
  'events import',
]

describe.each(commands)('footfall %s', (command) => {
  test('--help says what it takes', async () => {
    const { code, stdout, stderr } = await run(...command.split(' ').filter(Boolean), '--help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Usage: footfall-server${command && ` ${command}`}`)
  })
})

test('the help of identity load names its options', async () => {
  const { stdout } = await run('identity', 'load', '--help')
  for (const option of ['--into', '--map', '--replace', '--rejected'])
    expect(stdout).toContain(option)
})

test('--version is the package’s', async () => {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([
  [['chek', 'https://shop.example'], 'check'],
  [['billing', 'resum'], 'resume'],
  [['setup', '--organisation', 'x'], '--organization'],
])('%j is answered with a short hint', async (args, meant) => {
  const { code, stdout, stderr } = await run(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(`Did you mean ${meant}?`)
  expect(stderr.trim().split('\n').length).toBeLessThan(5)
})

test('what is missing of a command is said', async () => {
  const { code, stderr } = await run('billing', 'shut-off')
  expect([code, stderr]).toEqual([2, expect.stringContaining('ORGANIZATION_ID')])
})

test('an unavailable store is one sentence, without a stack or a password', async () => {
  const DATABASE_URL = 'postgres://footfall:hidden@127.0.0.1:1/footfall'
  expect(await runWith({ DATABASE_URL }, 'reset-password', 'olga@example.com')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'footfall: a store did not answer: connect ECONNREFUSED 127.0.0.1:1. Run npx footfall-server doctor to check all stores.\n',
  })
})

test('help comes in less than a second', async () => {
  expect(await quickest(1_000, () => run('--help'))).toBeLessThan(1_000)
})
