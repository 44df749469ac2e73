import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))

const findPackageRoot = (directory: string): string =>
  existsSync(join(directory, 'package.json')) ? directory : findPackageRoot(dirname(directory))

/** The root directory of the package, for both the sources and the bundle in dist/. */
export const packageRoot = findPackageRoot(here)

/** The build that started this process; from the sources, the newest build. */
export const buildRoot = /^.*[\\/]\.builds[\\/][^\\/]+/.exec(here)?.[0] ?? join(packageRoot, 'dist')

export const packageVersion: string = JSON.parse(
  readFileSync(join(packageRoot, 'package.json'), 'utf8'),
).version
