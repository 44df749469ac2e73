import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Document } from '../../api/openapi/document.ts'
import { buildRoot, packageVersion } from '../../platform/paths.ts'
import { renderGuides } from './guides.ts'
import { renderHome } from './home.ts'
import { html } from './html.ts'
import { layOut, type Site } from './layout.ts'
import type { DocsPage } from './page.ts'
import { renderReference } from './reference.ts'

/** The documentation, rendered. */
export interface DocsSite {
  /** Documents by path below `/docs`. */
  pages: ReadonlyMap<string, string>
  /** The document for every other path. */
  missing: string
  /** The search index, as JSON. */
  searchJson: string
}

/** Renders all pages: the home page, guides, their examples, and the reference. */
export function renderSite(document: Document, publicUrl: string, collectorUrl: string): DocsSite {
  const { guides, examples } = renderGuides({ root: buildRoot, publicUrl, collectorUrl })
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
  return {
    pages: new Map(pages.map((page) => [page.path, layOut(page, site)])),
    missing: layOut(missingPage, site),
    searchJson: JSON.stringify(pages.flatMap(({ entries }) => entries)),
  }
}

const missingPage: DocsPage = {
  path: '/404',
  title: 'Page not found',
  description: 'This page does not exist.',
  content: html`<h1>Page not found</h1>
<p class="lead">This page does not exist. Choose a page in the navigation, or search.</p>`,
  headings: [],
  entries: [],
}
