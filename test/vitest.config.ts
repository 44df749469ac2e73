import { existsSync, statfsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './sequencer.ts'
import SlowestFiles from './slowestFiles.ts'

// Services are started often: what V8 made of their code the first time is kept for the next.
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

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/documents/**'],
    globalSetup: ['test/setup.ts'],
    setupFiles: ['test/eachFile.ts'],
    reporters: ['default', new SlowestFiles()],
    sequence: { sequencer: LongestFirst },
    // What files import is read once for all that one process runs.
    isolate: false,
    // Twice the two cores: with three, a third of the processors' time was waited away (for timers, disks and each other).
    maxWorkers: 4,
    // Of the cases of one browser engine (test/pixel/engines/table.ts).
    maxConcurrency: 2,
    // Longer than `quickest` tries (harness/timing.ts).
    testTimeout: 300_000,
    // Longer than a service may take to start (harness/service.ts), which says why it did not.
    hookTimeout: 300_000,
    // Its default of a second is less than a busy machine takes to load a page.
    expect: { poll: { timeout: 30_000 } },
  },
})
