import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readScripts } from '../../collector/ingest/script/pixelScript.ts'
import { buildPixel } from '../../pixel/build.mjs'
import { budget, history } from '../../pixel/sizes.mjs'
import { snippet, stub } from '../../pixel/stub.mjs'
import { defaultPixelSettings } from '../../schemas/beacon.ts'

it('every file stays within its budget, and the script has its whole configuration in it', async () => {
  const outDir = mkdtempSync(join(tmpdir(), 'footfall-size-'))
  try {
    const sizes = await buildPixel({ outDir })
    expect(Object.keys(sizes).sort()).toEqual(Object.keys(budget).sort())
    for (const [file, bytesMax] of Object.entries(budget))
      expect(sizes[file]!.brotli, file).toBeLessThanOrEqual(bytesMax)
    expect(budget['pixel.js']).toBeLessThan(history.at(-1)!.brotli + 10)
    const scriptFor = readScripts(outDir)
    const lengths = [{}, { frustration: true }, { mask_selectors: ['.x'] }].map((settings) => {
      const all = { ...defaultPixelSettings, ...settings }
      const script = scriptFor(randomUUID(), 'https://c.example/p/x.js', all)
      expect(script).not.toMatch(/__FOOTFALL|\bconfig\b|\bvar\b/)
      return script.length
    })
    // Unused features are not in the script.
    expect(lengths).toEqual([...lengths].sort((one, other) => one - other))
    expect(readFileSync(join(outDir, 'index.d.ts'), 'utf8')).not.toMatch(/\bimport\b/)
  } finally {
    rmSync(outDir, { recursive: true })
  }
})

it('the stub takes at most 200 bytes', () => {
  expect(stub.length).toBeLessThanOrEqual(200)
})

it('the snippet takes a nonce, a pinned version, and goes without anything inline', () => {
  const url = 'https://collector.example/p/x.js'
  expect(snippet(url, { nonce: 'n0' })).toBe(
    `<script nonce="n0">${stub}</script>\n<script nonce="n0" async src="${url}"></script>`,
  )
  expect(snippet(url, { inline: false, integrity: 'sha384-x' })).toBe(
    `<script async src="${url}" integrity="sha384-x" crossorigin></script>`,
  )
})
