import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lockDirectory } from '../../collector/platform/localStores/lock.ts'
import { superviseLocalStore } from '../../collector/platform/localStores/supervise.ts'
import { buildRoot, packageRoot } from '../../collector/platform/paths.ts'

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-lock-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

test.runIf(process.getuid?.() === 0)(
  'a directory that another user’s process holds is refused at once, with what to do',
  async () => {
    const directory = temporaryDirectory()
    chmodSync(directory, 0o755)
    const lock = await lockDirectory(directory, 0)
    // Loads the lock as root, for nobody else may be able to read the checkout, and tries it as somebody else.
    const tries = `
    import { lockDirectory } from '${join(packageRoot, 'collector/platform/localStores/lock.ts')}'
    process.setgid(65534)
    process.setuid(65534)
    await lockDirectory('${directory}', 0).catch(({ message }) => console.log(message))
    process.exit(0)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', tries], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
    await new Promise((resolve) => child.once('close', resolve))
    expect(output).toMatch(
      new RegExp(
        `^\\S+\\.sock, the lock of ${directory}, belongs to another user: stop the Footfall [^\\n]+\\n$`,
      ),
    )
    await lock.release()
  },
)

test('a local store that says that it can never start is not tried again', async () => {
  const launcher = join(temporaryDirectory(), 'launcher.mjs')
  writeFileSync(launcher, "process.stderr.write('not installed')\nprocess.exitCode = 78\n")
  const started = superviseLocalStore({
    name: 'the local store',
    launcher: relative(join(buildRoot, 'collector'), launcher),
    settings: {},
    readyTimeoutMs: 600_000,
    onRestart: () => expect.unreachable(),
    ready: () => Promise.reject(new Error('not yet')),
  })
  await expect(started).rejects.toThrow('the local store did not start: not installed')
})
