import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect } from 'vitest'
import { packageRoot } from '../../../collector/platform/paths.ts'
import type { useSite } from '../../examples/site.ts'
import { readRows } from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Block, blocksOf } from './blocks.ts'

type Site = ReturnType<typeof useSite>

const types = readFileSync(join(packageRoot, 'pixel/footfall.d.ts'), 'utf8')

/** The snippet as the guide has it. */
const snippet = (): string =>
  blocksOf('tracking.md').find(({ language }) => language === 'html')!.code

const pathOf = ({ place }: Block, n = 0): string => `/${place.replace(/\W/g, '-')}-${n}`

/** Puts HTML into the `<head>` or the body of a page: the pixel's event arrives, and a button sends what it is marked with. */
export async function runHtml(block: Block, site: Site): Promise<void> {
  const path = pathOf(block)
  if (block.code.includes('<noscript>')) {
    const [, image] = /src="([^"]+)"/.exec(site.filledIn(block.code))!
    const answer = await fetch(`${image}&url=${site.url}${path}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/gif'])
    return
  }
  const code = site.filledIn(block.code)
  const head = code.includes('<script') ? code : site.filledIn(snippet())
  site.serve(path, `<title>guide</title>${head}<body>${code === head ? '' : code}</body>`)
  await site.visit(path, async (page) => {
    await site.arrived('page_view', path)
    const [, name] = /data-footfall-event="(\w+)"/.exec(code) ?? []
    if (!name) return
    await page.getByRole('button').click()
    expect(await site.arrived('custom', path)).toContainEqual(expect.objectContaining({ name }))
  })
}

/** Calls of `footfall(…)`, each on a page of its own with the snippet. */
export async function runCalls(block: Block, site: Site, hem: string, signature: string) {
  const calls = block.code.split('\n').filter((line) => line.startsWith('footfall('))
  expect(calls.length).toBeGreaterThan(0)
  for (const [n, call] of calls.entries()) {
    const [, command, name] = /^footfall\('(\w+)'(?:, '(\w+)')?/.exec(call)!
    expect(types, block.place).toContain(`'${command}'`)
    const path = pathOf(block, n)
    site.serve(path, `<title>guide</title>${site.filledIn(snippet())}<body></body>`)
    await site.visit(path, async (page) => {
      const values = JSON.stringify({ email: 'someone@company.example', hem, signature })
      await page.waitForFunction('window.footfall?.on')
      const sent = page.waitForRequest((request) => (request.postData() ?? '').includes(hem))
      sent.catch(() => {})
      await page.evaluate(`{ const { email, hem, signature } = ${values}\n${call}\n}`)
      if (command === 'track')
        expect(await site.arrived('custom', path)).toContainEqual(expect.objectContaining({ name }))
      else if (command === 'identify') await sent
      else if (command === 'page') await site.arrived('page_view', path, 2)
    })
  }
}

/** A module that imports `footfall-pixel/pixel`, bundled as an application would. */
export async function runBundled(block: Block, site: Site): Promise<void> {
  const { outputFiles } = await build({
    stdin: { contents: site.filledIn(block.code), resolveDir: packageRoot },
    alias: { 'footfall-pixel/pixel': join(packageRoot, 'dist/pixel/index.js') },
    bundle: true,
    write: false,
    format: 'esm',
  })
  const path = pathOf(block)
  site.serve(`${path}.js`, outputFiles[0]!.text)
  site.serve(path, `<title>guide</title><script type="module" src="${path}.js"></script>`)
  await site.visit(path, async () => {
    await site.arrived('page_view', path)
    await site.arrived('custom', path)
  })
}

/** A page under a Content Security Policy: the pixel works, and nothing is blocked. */
export async function runPolicy(block: Block, site: Site): Promise<void> {
  const path = pathOf(block)
  const script = snippet().split('\n')[1]!
  const policy = site.filledIn(block.code).trim()
  site.serve(path, `<title>guide</title>${site.filledIn(script)}`, {
    'content-security-policy': policy,
  })
  await site.visit(path, () => site.arrived('page_view', path))
}

/** Lines that are filters: the API accepts each. */
export async function runFilters({ code }: Block, site: Site): Promise<void> {
  for (const filter of code.trim().split('\n')) {
    await waitFor(filter, () => readRows(site.service, { filter, limit: '1' }))
  }
}
