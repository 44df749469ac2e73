import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Tests of documents need no stores and no build, so `npm run lint` runs them. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { include: ['test/documents/*.test.ts'], isolate: false, reporters: ['dot'] },
})
