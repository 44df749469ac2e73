import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { ownDatabases } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'

/** An ended process may still wait for init to reap it. */
const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('a service that a test started ends when the process of the test is killed', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'footfall-orphan-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const harness = pathToFileURL(join(packageRoot, 'test/harness/service.ts')).href
  const settings = JSON.stringify({ dataDir, env: await ownDatabases() })
  const starter = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { startService } from '${harness}'
       const service = await startService(${settings})
       console.log(service.process.pid)
       setInterval(() => {}, 1_000)`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void starter.kill('SIGKILL'))
  let printed = ''
  starter.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const pid = Number(await waitFor('the service', () => /^\d+\n/.exec(printed)?.[0], 120_000))
  expect(isRunning(pid)).toBe(true)

  starter.kill('SIGKILL')
  await waitFor('the end of the service', () => !isRunning(pid), 60_000)
}, 600_000)
