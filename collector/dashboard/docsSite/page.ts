import type { Html } from './html.ts'

/** A heading that the table of contents lists. */
export interface Heading {
  id: string
  title: string
  /** 2 or 3. */
  depth: number
}

/** A part of a page that the search finds. */
export interface SearchEntry {
  url: string
  title: string
  /** The page that contains it. */
  page: string
  text: string
}

/** One page of the documentation. */
export interface DocsPage {
  /** Below `/docs`: "/tracking"; empty for the home page. */
  path: string
  title: string
  /** One sentence, for search engines and lists. */
  description: string
  content: Html
  headings: Heading[]
  entries: SearchEntry[]
  /** Whether the page has no table of contents, so that examples get its width (reference pages). */
  isWide?: boolean
}

/** Converts "GET /api/v1/whoami" to "get-api-v1-whoami". */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/-$/, '')
