import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildPixel } from '../../pixel/build.mjs'
import { stub } from '../../pixel/stub.mjs'
import { pixelConfigPlaceholder } from '../../schemas/beacon.ts'

/** A ceiling that may only come down. */
const brotliBytesMax = 4150

it('the script stays within its budget and has one place for its configuration', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'footfall-size-'))
  try {
    const { brotli } = (await buildPixel({ outDir }))['pixel.js']!
    expect(brotli).toBeLessThanOrEqual(brotliBytesMax)
    expect(readFileSync(join(outDir, 'pixel.js'), 'utf8').split(pixelConfigPlaceholder)).toHaveLength(2)
    expect(readFileSync(join(outDir, 'index.d.ts'), 'utf8')).not.toMatch(/\bimport\b/)
  } finally {
    rmSync(outDir, { recursive: true })
  }
})

it('the stub takes at most 200 bytes, and the example has it', () => {
  expect(stub.length).toBeLessThanOrEqual(200)
  const example = readFileSync(new URL('../../examples/plain.html', import.meta.url), 'utf8')
  expect(example).toContain(`<script>${stub}</script>`)
})
