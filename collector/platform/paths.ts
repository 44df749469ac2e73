import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))

const findPackageRoot = (directory: string): string =>
  existsSync(join(directory, 'package.json')) ? directory : findPackageRoot(dirname(directory))

/** The checkout's folder, found alike from the sources and from the bundle in dist/. */
export const packageRoot = findPackageRoot(here)

/** The build that this process was started from, which later ones leave alone; from the sources, the newest. */
export const buildRoot = /^.*[\\/]\.builds[\\/][^\\/]+/.exec(here)?.[0] ?? join(packageRoot, 'dist')

/** Of Footfall, as package.json has it. */
export const packageVersion: string = JSON.parse(
  readFileSync(join(packageRoot, 'package.json'), 'utf8'),
).version
