import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, posix } from 'node:path'
import { codeBlock } from './code.ts'
import { html } from './html.ts'
import { anchorLink, renderMarkdown } from './markdown.ts'
import { type DocsPage, slug } from './page.ts'

/** The audiences of guides, in the order of the navigation. */
export const readers = [
  {
    title: 'Site owners',
    about: 'Install the pixel and read the figures of your site.',
    guides: ['tracking', 'dashboard', 'alerts', 'migrating'],
  },
  {
    title: 'Developers',
    about: 'Query events with keys, and identify visitors.',
    guides: ['api', 'tracking-plan', 'identity-and-privacy'],
  },
  {
    title: 'Data people',
    about: 'Define audiences and send them to other tools.',
    guides: ['audiences-and-intent', 'activation', 'archive'],
  },
  {
    title: 'Operators',
    about: 'Run, monitor and bill Footfall.',
    guides: ['operations', 'several-machines', 'billing', 'single-sign-on'],
  },
  { title: 'Everybody', about: 'Terms and measurements.', guides: ['glossary', 'numbers'] },
] as const

/** The location of the repository, and the addresses in its examples. */
export interface Sources {
  /** The directory that contains `collector/docs` and `examples`. */
  root: string
  publicUrl: string
  collectorUrl: string
}

/** Replaces the local addresses in guides with those of the service. */
const withAddresses = (text: string, { publicUrl, collectorUrl }: Sources): string =>
  text
    .replaceAll('http://127.0.0.1:8787', publicUrl)
    .replaceAll('https://collector.example', collectorUrl)

const folder = 'collector/docs'

/** Renders the guides, and every example that they link. */
export function renderGuides(sources: Sources): { guides: DocsPage[]; examples: DocsPage[] } {
  const linked = new Set<string>()
  const hrefOf = (href: string): string => {
    const [file, anchor] = href.split('#') as [string, string?]
    const fragment = anchor === undefined ? '' : `#${anchor}`
    if (/^https?:/.test(href) || file === '') return href
    if (/^[\w-]+\.md$/.test(file)) return `/docs/${file.slice(0, -3)}${fragment}`
    const path = posix.join(folder, file)
    if (!path.startsWith('examples/'))
      throw new Error(`The guides link ${href}, which no page has.`)
    linked.add(path)
    return `/docs/${path}${fragment}`
  }
  const guides = readers
    .flatMap(({ guides }) => guides)
    .map((name): DocsPage => {
      const source = readFileSync(join(sources.root, folder, `${name}.md`), 'utf8')
      const { lead, ...rendered } = renderMarkdown(
        withAddresses(source, sources),
        `/docs/${name}`,
        hrefOf,
      )
      return { ...rendered, path: `/${name}`, description: lead }
    })
  return { guides, examples: [...linked].map((path) => examplePage(path, sources)) }
}

/** Renders a file, or all files of a directory, with their code. */
function examplePage(path: string, sources: Sources): DocsPage {
  const full = join(sources.root, path)
  const files = statSync(full).isFile()
    ? [path]
    : readdirSync(full, { recursive: true, encoding: 'utf8' })
        .toSorted()
        .map((name) => posix.join(path, name))
        .filter((name) => statSync(join(sources.root, name)).isFile())
  const title = path.replace('examples/', '')
  const headings =
    files.length > 1
      ? files.map((file) => ({ id: slug(file), title: file.slice(path.length + 1), depth: 2 }))
      : []
  const parts = files.map((file, n) => {
    const code = withAddresses(readFileSync(join(sources.root, file), 'utf8'), sources)
    const heading = headings[n]
    return html`${heading && html`<h2 id="${heading.id}">${heading.title}${anchorLink(heading.id, heading.title)}</h2>`}
      ${codeBlock(code.trimEnd(), extname(file).slice(1))}`
  })
  return {
    path: `/${path}`,
    title,
    description: `Footfall example: ${title}.`,
    content: html`<h1>${title}</h1><p class="lead">An example of the guides, complete and tested.</p>${parts}`,
    headings,
    entries: [{ url: `/docs/${path}`, title: `Example: ${title}`, page: 'Examples', text: '' }],
  }
}
