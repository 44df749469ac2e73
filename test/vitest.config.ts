import { existsSync, statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import RunReport from './runReport.ts'
import { LongestFirst } from './sequencer.ts'

// Services and test files are started often. Node keeps what V8 compiled for the next start.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../node_modules/.cache/footfall/compiled', import.meta.url),
)

// Data of a run (both stores, spools, profiles of browsers) need not survive the machine. If memory has room
// for several times as much, it is there, and no test waits for a disk.
const memory = '/dev/shm'
const roomBytes = 8 * 2 ** 30
const hasRoom = () => {
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, process.availableMemory()) >= roomBytes
}
if (process.env.TMPDIR === undefined && existsSync(memory) && hasRoom()) process.env.TMPDIR = memory

/** Folders of tests that need neither stores nor a build. */
const pure = ['test/unit/**/*.test.ts', 'test/documents/*.test.ts']

/** Vitest applies `--exclude=…` to no project that has files to exclude itself. */
const excluded = process.argv.flatMap((argument) => /^--exclude=(.+)/.exec(argument)?.[1] ?? [])

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    reporters: ['default', new RunReport()],
    sequence: { sequencer: LongestFirst },
    // One process imports each module once for all of its files.
    isolate: false,
    // Node strips the types itself and caches the code. Vite would transform every file in every run.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Its default of a second is less than a busy machine takes to load a page.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: pure,
          exclude: excluded,
          pool: 'threads',
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'stores',
          include: ['test/**/*.test.ts'],
          exclude: [...pure, ...excluded],
          pool: 'forks',
          globalSetup: ['test/setup.ts'],
          setupFiles: ['test/eachFile.ts'],
          // Of the cases of one browser engine (test/pixel/engines/table.ts).
          maxConcurrency: 2,
          // Longer than `quickest` tries (harness/timing.ts).
          testTimeout: 300_000,
          // Longer than a service may take to start (harness/service.ts), which says why it did not.
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
