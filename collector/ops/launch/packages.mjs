/**
 * Packs a release: `npm run packages [DIRECTORY]`. The packages are the service with its build, the pixel and the
 * client. The last two have no dependencies. All have the version of Footfall,
 * and names that are ours in the public registry, where `footfall` is somebody else's.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'))
const { version, license, engines } = manifest

/** An export of the pixel's package. */
const component = (types, module) => ({
  types: `./pixel/packages/${types}`,
  import: `./pixel/packages/${module}`,
})

/** What `npx footfall-server` needs: the build, and the files that it reads from its package. */
const serviceFiles = [
  'dist',
  'collector',
  'pixel',
  'schemas',
  'examples',
  'README.md',
  'CHANGELOG.md',
]

/** The manifest of the service, without the tools of its development. */
function serviceManifest() {
  const { devDependencies: _, scripts: __, private: ___, ...facts } = manifest
  return { ...facts, scripts: { start: 'footfall-server serve' } }
}

const packages = {
  'footfall-server': {
    ...serviceManifest(),
    files: Object.fromEntries(serviceFiles.map((path) => [path, path])),
  },
  'footfall-pixel': {
    description: "Footfall's pixel: a typed loader, and components for frameworks",
    files: {
      'dist/pixel': 'dist/pixel',
      'pixel/packages': 'pixel/packages',
      'pixel/stub.mjs': 'pixel/stub.mjs',
    },
    exports: {
      '.': component('loader.d.mts', 'loader.mjs'),
      './pixel': { types: './dist/pixel/index.d.ts', import: './dist/pixel/index.js' },
      './react': component('react.d.mts', 'react.mjs'),
      './vue': component('vue.d.mts', 'vue.mjs'),
      './next': component('next.d.mts', 'next.mjs'),
      './nuxt': component('nuxt.d.mts', 'nuxt.mjs'),
      './sveltekit': {
        types: './pixel/packages/svelte.d.mts',
        svelte: './pixel/packages/Footfall.svelte',
        import: './pixel/packages/Footfall.svelte',
      },
      './astro': component('astro.d.mts', 'Footfall.astro'),
    },
    sideEffects: ['./dist/pixel/*.js'],
  },
  'footfall-client': {
    description: "The typed client of Footfall's data API",
    files: { 'dist/client': 'dist/client' },
    exports: { '.': { types: './dist/client/index.d.ts', import: './dist/client/index.js' } },
    engines,
    sideEffects: false,
  },
}

/** Generated files that a package has in dist/ already. */
const inDist = [at('collector/api/client/api.d.ts')]

/** Lays a package out in an empty folder, from dist/ as `npm run build` left it. */
export function layOut(name, folder) {
  const { files, ...facts } = packages[name]
  for (const [from, to] of Object.entries(files))
    cpSync(at(from), join(folder, to), {
      recursive: true,
      dereference: true,
      filter: (path) => !inDist.includes(path),
    })
  cpSync(at('LICENSE'), join(folder, 'LICENSE'))
  if (!files['README.md'])
    writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${facts.description}.\n`)
  const own = { name, version, license, type: 'module', ...facts }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(own, null, 2)}\n`)
}

/** Packs all packages into a directory. Returns the names of the files. */
export function packAll(directory) {
  mkdirSync(directory, { recursive: true })
  return Object.keys(packages).map((name) => {
    const folder = mkdtempSync(join(tmpdir(), `${name}-`))
    try {
      layOut(name, folder)
      const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', directory], {
        cwd: folder,
        encoding: 'utf8',
      })
      const [first] = Object.values(JSON.parse(packed))
      return first.filename
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = resolve(process.argv[2] ?? 'dist-packages')
  for (const file of packAll(directory)) console.log(join(directory, file))
}
