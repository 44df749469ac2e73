import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup.ts'],
    // Real servers and browsers on two cores: they wait for each other now and then, but more at once only slow each other.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
