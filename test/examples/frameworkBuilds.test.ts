/** Applications of meta-frameworks, which these build for production with the packed pixel, and serve. */
import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packAll } from '../../collector/ops/launch/packages.mjs'
import { packageRoot } from '../../collector/platform/paths.ts'
import { waitFor } from '../harness/service.ts'
import { useSite } from './site.ts'

const site = useSite()
const run = promisify(execFile)
const directory = mkdtempSync(join(tmpdir(), 'footfall-builds-'))
let pixelPackage: string
beforeAll(() => {
  pixelPackage = packAll(directory).find((name) => name.startsWith('footfall-pixel'))!
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const env = {
  ...process.env,
  // A build for production, although the tests run in another mode.
  NODE_ENV: undefined,
  VITEST: undefined,
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  ASTRO_TELEMETRY_DISABLED: '1',
}

/** Copies an example with the pixel's id filled in, installs its packages and builds it. */
async function build(framework: string): Promise<string> {
  const folder = join(directory, framework)
  cpSync(join(packageRoot, 'examples/frameworks', framework), folder, { recursive: true })
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    writeFileSync(path, site.filledIn(readFileSync(path, 'utf8')))
  }
  const manifest = join(folder, 'package.json')
  const content = JSON.parse(readFileSync(manifest, 'utf8'))
  content.devDependencies['footfall-pixel'] = `file:${join(directory, pixelPackage)}`
  writeFileSync(manifest, JSON.stringify(content))
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', install, { cwd: folder, env })
  await run('npm', ['run', 'build'], { cwd: folder, env })
  return folder
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))
  return port
}

test.each(['nextjs', 'nuxt', 'sveltekit', 'astro'])(
  '%s: the production build loads the pixel once, and sends what the application tracks',
  { timeout: 400_000 },
  async (framework) => {
    const folder = await build(framework)
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const ports = { PORT: String(port), HOST: '127.0.0.1', ORIGIN: origin }
    const flags = framework === 'astro' ? ['--', '--port', String(port)] : []
    // A group of its own: npm does not pass signals on.
    const server = spawn('npm', ['run', 'start', ...flags], {
      cwd: folder,
      env: { ...env, ...ports },
      detached: true,
      stdio: 'ignore',
    })
    try {
      await waitFor(
        `the server of ${framework}`,
        () =>
          fetch(origin).then(
            () => true,
            () => false,
          ),
        60_000,
      )
      await site.visit(`${origin}/?${framework}`, async (page) => {
        await page.waitForFunction('window.footfall?.on')
        await page.getByRole('button', { name: 'Add to cart' }).click()
        const [tracked] = await site.arrived('custom', `/?${framework}`)
        expect(tracked).toMatchObject({ name: 'added_to_cart', properties: { sku: 'blue-vase' } })
        expect(await site.arrived('page_view', `/?${framework}`)).toHaveLength(1)
        expect(await page.locator('script[src*="/p/"]').count()).toBe(1)
      })
    } finally {
      process.kill(-server.pid!)
    }
  },
)
