import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const findPackageRoot = (directory: string): string =>
  existsSync(join(directory, 'package.json')) ? directory : findPackageRoot(dirname(directory))

/** The checkout's folder, found alike from the sources and from the bundle in dist/. */
export const packageRoot = findPackageRoot(dirname(fileURLToPath(import.meta.url)))
