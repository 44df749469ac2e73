/** The packages for frameworks, in examples that Vite builds for production. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from 'vite'
import { afterAll, describe, expect, test } from 'vitest'
import { layOut } from '../../collector/ops/launch/packages.mjs'
import { packageRoot } from '../../collector/platform/paths.ts'
import { useSite } from './site.ts'

const site = useSite()
const directory = mkdtempSync(join(tmpdir(), 'footfall-frameworks-'))
afterAll(() => rmSync(directory, { recursive: true }))

interface Built {
  output: { type: string; fileName: string; code?: string; source?: string | Uint8Array }[]
}

/** Builds a folder as `vite build` does, with the pixel's id filled in; its files by name. */
async function built(folder: string, ssr?: string): Promise<Record<string, string>> {
  const bundle = (await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    build: { write: false, modulePreload: { polyfill: false }, ...(ssr && { ssr }) },
  })) as Built
  return Object.fromEntries(
    bundle.output.map(({ fileName, code, source }) => [fileName, code ?? String(source)]),
  )
}

/** What `npm install footfall-pixel` brings, and the frameworks. */
function install(folder: string) {
  for (const name of ['react', 'react-dom', 'vue', 'scheduler', '@vue']) {
    const path = join(folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(packageRoot, 'node_modules', name), path)
  }
  layOut('footfall-pixel', join(folder, 'node_modules/footfall-pixel'))
}

function exampleOf(framework: string): string {
  const folder = join(directory, framework)
  cpSync(join(packageRoot, 'examples/frameworks', framework), folder, { recursive: true })
  install(folder)
  const main = join(folder, 'main.js')
  writeFileSync(main, site.filledIn(readFileSync(main, 'utf8')))
  return folder
}

describe.each(['react', 'vue'])('%s', (framework) => {
  test('the production build loads the pixel once, and sends what the application tracks', async () => {
    const files = await built(exampleOf(framework))
    for (const [name, text] of Object.entries(files))
      site.serve(name === 'index.html' ? `/${framework}` : `/${name}`, text)
    await site.visit(`/${framework}`, async (page) => {
      await page.getByRole('button', { name: 'Add to cart' }).click()
      const [tracked] = await site.arrived('custom', `/${framework}`)
      expect(tracked).toMatchObject({ name: 'added_to_cart', properties: { sku: 'blue-vase' } })
      expect(await site.arrived('page_view', `/${framework}`)).toHaveLength(1)
      expect(await page.locator('script[src*="/p/"]').count()).toBe(1)
    })
  })

  test('renders on a server, where the pixel does nothing', async () => {
    const folder = join(directory, `${framework}-server`)
    cpSync(join(packageRoot, 'examples/frameworks', framework), folder, { recursive: true })
    install(folder)
    writeFileSync(
      join(folder, 'server.js'),
      `import { useFootfall } from 'footfall-pixel/${framework}'
       import { load } from 'footfall-pixel'
       load({ src: 'https://collector.example/p/x.js' })
       export const answer = useFootfall()('track', 'x')`,
    )
    const files = await built(folder, 'server.js')
    const file = join(folder, 'built.mjs')
    writeFileSync(file, Object.values(files).join('\n'))
    expect((await import(file)).answer).toBeUndefined()
  })
})

test('an application that only tracks bundles neither the pixel nor a framework', async () => {
  const folder = join(directory, 'small')
  cpSync(join(packageRoot, 'examples/frameworks/react/index.html'), join(folder, 'index.html'))
  install(folder)
  writeFileSync(
    join(folder, 'main.js'),
    `import { footfall } from 'footfall-pixel'\nfootfall('track', 'opened')`,
  )
  const files = await built(folder)
  const script = Object.entries(files).find(([name]) => name.endsWith('.js'))![1]
  expect(script).toContain('opened')
  expect(script).not.toContain('createElement')
  expect(script.length).toBeLessThan(2_500)
})
