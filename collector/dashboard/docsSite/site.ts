import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Document } from '../../api/openapi/document.ts'
import { buildRoot, packageRoot, packageVersion } from '../../platform/paths.ts'
import { renderGuides } from './guides.ts'
import { renderHome } from './home.ts'
import { html } from './html.ts'
import { layOut, type Site } from './layout.ts'
import type { DocsPage } from './page.ts'
import { renderReference } from './reference.ts'
import { listFile, missingPath, pageFile, placeholders, searchFile } from './siteFiles.ts'

/**
 * Renders the home page, guides, their examples and the reference into the build, for docsPages.ts. It writes a file for
 * each page, the search index, and the list of pages. They contain placeholders of the service's addresses.
 */
export function writeSite(document: Document): void {
  const { publicUrl, collectorUrl } = placeholders
  const { guides, examples } = renderGuides({ root: packageRoot, publicUrl, collectorUrl })
  const { reference, objects } = renderReference(document, publicUrl)
  const home = renderHome(document, guides, reference)
  const pages = [home, ...guides, ...reference, ...objects, ...examples]
  const site: Site = {
    guides,
    reference,
    assets: JSON.parse(readFileSync(join(buildRoot, 'dashboard/docs.json'), 'utf8')),
    publicUrl,
    version: packageVersion,
  }
  const write = (file: string, text: string) => {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  for (const page of [...pages, missingPage]) write(pageFile(page.path), layOut(page, site))
  write(searchFile, JSON.stringify(pages.flatMap(({ entries }) => entries)))
  write(listFile, JSON.stringify(pages.map(({ path }) => path)))
}

const missingPage: DocsPage = {
  path: missingPath,
  title: 'Page not found',
  description: 'This page does not exist.',
  content: html`<h1>Page not found</h1>
<p class="lead">This page does not exist. Choose a page in the navigation, or search.</p>`,
  headings: [],
  entries: [],
}
