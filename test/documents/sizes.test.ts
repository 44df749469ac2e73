/** What documents and examples say of the pixel's script. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { history } from '../../pixel/sizes.mjs'
import { stub } from '../../pixel/stub.mjs'

const readText = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('the documents say what the script takes', () => {
  const bytes = history.at(-1)!.brotli.toLocaleString('en')
  for (const path of ['collector/docs/tracking.md', 'test/bench/RESULTS.md'])
    expect(readText(path), path).toContain(`${bytes} bytes`)
})

test('the example has the stub', () => {
  expect(readText('examples/plain.html')).toContain(`<script>${stub}</script>`)
})
