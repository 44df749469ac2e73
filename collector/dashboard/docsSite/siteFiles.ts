import { join } from 'node:path'
import { buildRoot } from '../../platform/paths.ts'

const directory = join(buildRoot, 'docs')

/** Returns the file of a page by its path below `/docs`; the home page has an empty path. */
export const pageFile = (path: string): string => join(directory, `${path || '/index'}.html`)

/** The path of the page that is shown for unknown paths. */
export const missingPath = '/404'

/** The search index, and the JSON list of the paths of all pages. */
export const searchFile = join(directory, 'search.json')
export const listFile = join(directory, 'pages.json')

/** Stand for the addresses of the service, which the build does not know. */
export const placeholders = {
  publicUrl: 'https://public-url.footfall.invalid',
  collectorUrl: 'https://collector-url.footfall.invalid',
}
