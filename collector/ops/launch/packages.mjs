/**
 * Packs a release: `npm run packages [DIRECTORY]`. The packages are the service with its build, the pixel and the
 * client. The last two have no dependencies. All have the version of Footfall.
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
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'))
const { version, license, engines, exports } = manifest

/** The modules of the pixel's package that are exports of Footfall, too. */
const modules = ['pixel', 'loader', 'react', 'vue', 'next', 'nuxt', 'sveltekit', 'astro']

/** What `npx footfall` needs: the build, and the files that it reads from its package. */
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
  return { ...facts, scripts: { start: 'footfall serve' } }
}

const packages = {
  footfall: {
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
      '.': exports['./loader'],
      ...Object.fromEntries(modules.map((name) => [`./${name}`, exports[`./${name}`]])),
    },
    sideEffects: ['./dist/pixel/*.js'],
  },
  'footfall-client': {
    description: "The typed client of Footfall's data API",
    files: { 'dist/client': 'dist/client' },
    exports: { '.': exports['./client'] },
    engines,
    sideEffects: false,
  },
}

/** Generated files that a package has in dist/ already. */
const inDist = [at('collector/api/client/api.d.ts')]

/** Packs all packages into a directory, from dist/ as `npm run build` left it. Returns the names of the files. */
export function packAll(directory) {
  mkdirSync(directory, { recursive: true })
  return Object.entries(packages).map(([name, { files, ...facts }]) => {
    const folder = mkdtempSync(join(tmpdir(), `${name}-`))
    try {
      for (const [from, to] of Object.entries(files))
        cpSync(at(from), join(folder, to), {
          recursive: true,
          dereference: true,
          filter: (path) => !inDist.includes(path),
        })
      if (name !== 'footfall') nameItself(folder, name)
      cpSync(at('LICENSE'), join(folder, 'LICENSE'))
      if (!files['README.md'])
        writeFileSync(join(folder, 'README.md'), `# ${name}\n\n${facts.description}.\n`)
      const own = { name, version, license, type: 'module', ...facts }
      writeFileSync(join(folder, 'package.json'), `${JSON.stringify(own, null, 2)}\n`)
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

/** Types import other modules by the name of their package. */
function nameItself(folder, name) {
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!/\.d\.(ts|mts)$/.test(file.name)) continue
    const path = join(file.parentPath, file.name)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll("'footfall/", `'${name}/`))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const directory = resolve(process.argv[2] ?? 'dist-packages')
  for (const file of packAll(directory)) console.log(join(directory, file))
}
