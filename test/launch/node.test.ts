import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { waitFor } from '../harness/service.ts'
import { isAlive, launch, oldNode, pretendedNode } from './harness.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-launch-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A program that begins as our launchers do. */
function program(name: string, body: string): string {
  const path = join(directory, `${name}.mjs`)
  const launcher = pathToFileURL(join(packageRoot, 'collector/ops/launch/node.mjs')).href
  writeFileSync(path, `import { handOver } from '${launcher}'\nawait handOver()\n${body}`)
  return path
}

/** Prints its process id, and stops in order on a signal. */
const service = `
  process.on('SIGTERM', () => { console.log('closed in order'); process.exit(3) })
  setInterval(() => {}, 1000)
  console.log('pid ' + process.pid)`

const pidOf = (output: string) => Number(output.match(/pid (\d+)/)?.[1])

describe('on a Node that is too old to serve', () => {
  test('the program runs on a newer one, with the same arguments; its exit code is kept', async () => {
    const path = program(
      'facts',
      `console.log(JSON.stringify([process.versions.node, process.cwd(), ...process.argv.slice(2)]))
       process.exitCode = 7`,
    )
    const { code, output } = await launch([...oldNode(), path, 'a b', '--flag'], { cwd: directory })
      .ended
    const [version, cwd, ...args] = JSON.parse(output)
    expect(Number.parseInt(version, 10)).toBeGreaterThanOrEqual(22)
    expect(cwd).toBe(directory)
    expect(args).toEqual(['a b', '--flag'])
    expect(code).toBe(7)
  })

  test('a SIGTERM reaches the program, which ends in order', async () => {
    const launched = launch([...oldNode(), program('term', service)])
    const pid = await waitFor('the program', () => pidOf(launched.output()), 30_000)
    expect(pid).not.toBe(launched.process.pid)
    launched.process.kill('SIGTERM')
    expect(await launched.ended).toMatchObject({
      code: 3,
      output: expect.stringContaining('closed in order'),
    })
  })

  test('a kill -9 of the launcher leaves nothing behind: the program ends in order', async () => {
    const launched = launch([...oldNode(), program('kill', service)])
    const pid = await waitFor('the program', () => pidOf(launched.output()), 30_000)
    launched.process.kill('SIGKILL')
    await waitFor('the program to be gone', () => !isAlive(pid), 30_000)
    expect((await launched.ended).output).toContain('closed in order')
  })

  test('the launcher ends by the signal that the program ended by', async () => {
    const path = program(
      'signal',
      "process.kill(process.pid, 'SIGKILL')\nsetInterval(() => {}, 1000)",
    )
    expect(await launch([...oldNode(), path]).ended).toMatchObject({
      code: null,
      signal: 'SIGKILL',
    })
  })

  test.each([
    [
      'no newer one was installed',
      '{"optionalDependencies":{"node-PLATFORM":"24.0.0"}}',
      /run npm install/,
    ],
    [
      'package.json has no package for the machine, or no longer',
      '{"optionalDependencies":{}}',
      /package\.json has no node-\w+-\w+, which would install it: install Node 24$/,
    ],
  ])('%s: one sentence says what to do', async (name, manifest, advice) => {
    const root = join(directory, name)
    mkdirSync(join(root, 'collector/ops/launch'), { recursive: true })
    writeFileSync(
      join(root, 'package.json'),
      manifest.replace('PLATFORM', `${process.platform}-${process.arch}`),
    )
    for (const file of ['node.mjs', 'footfall.mjs'])
      copyFileSync(
        join(packageRoot, 'collector/ops/launch', file),
        join(root, 'collector/ops/launch', file),
      )
    const { code, output } = await launch([
      ...oldNode(),
      join(root, 'collector/ops/launch/footfall.mjs'),
    ]).ended
    expect(code).toBe(1)
    expect(output).toMatch(/^footfall: Node 24 is required \(22 also works\), this is [^\n]+$/)
    expect(output).toMatch(advice)
  })
})

test('a Node that cannot even launch is told so in one sentence', async () => {
  const path = join(packageRoot, 'collector/ops/launch/start.mjs')
  const { code, output } = await launch([...pretendedNode('20.14.0'), path]).ended
  expect(code).toBe(1)
  expect(output).toBe('footfall: Node 20.15 or newer is needed to start, this is 20.14.0')
})

test('npx footfall-server is built by nobody: it says what to run first', async () => {
  const root = join(directory, 'unbuilt')
  mkdirSync(join(root, 'collector/ops/launch'), { recursive: true })
  for (const file of ['node.mjs', 'footfall.mjs'])
    copyFileSync(
      join(packageRoot, 'collector/ops/launch', file),
      join(root, 'collector/ops/launch', file),
    )
  const { code, output } = await launch([
    process.execPath,
    join(root, 'collector/ops/launch/footfall.mjs'),
    'serve',
  ]).ended
  expect(code).toBe(1)
  expect(output).toMatch(/^footfall: .+main\.js is missing: run npm run build first$/)
})
