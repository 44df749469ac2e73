import { Marked, type Token } from 'marked'
import { codeBlock } from './code.ts'
import { Html, html } from './html.ts'
import type { Heading, SearchEntry } from './page.ts'

/** A rendered Markdown file. */
export interface Rendered {
  title: string
  /** The first paragraph, as plain text. */
  lead: string
  content: Html
  headings: Heading[]
  entries: SearchEntry[]
}

/** Renders a guide for the address `url`; `hrefOf` maps links of the repository to addresses. */
export function renderMarkdown(
  source: string,
  url: string,
  hrefOf: (href: string) => string,
): Rendered {
  const headings: Heading[] = []
  const markdown = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const title = plain(text)
        if (depth === 1) return `<h1>${this.parser.parseInline(tokens)}</h1>\n`
        const id = uniqueAnchor(title, headings)
        headings.push({ id, title, depth })
        return html`<h${depth} id="${id}">${new Html(this.parser.parseInline(tokens))}${anchorLink(id, title)}</h${depth}>\n`
          .text
      },
      code: ({ text, lang }) => codeBlock(text, lang?.split(' ')[0] ?? '').text,
      link({ href, tokens }) {
        return html`<a href="${hrefOf(href)}">${new Html(this.parser.parseInline(tokens))}</a>`.text
      },
    },
  })
  const tokens = markdown.lexer(source)
  const content = markdown
    .parser(tokens)
    // Wide tables scroll separately, also with the keyboard.
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
  const title = plain(tokens.find(({ type }) => type === 'heading')?.raw ?? '')
  const lead = plain(tokens.find(({ type }) => type === 'paragraph')?.raw ?? '')
  return {
    title,
    lead,
    content: new Html(content),
    headings,
    entries: entriesOf(tokens, title, url, headings),
  }
}

/** The link with which readers copy the address of a heading. */
export const anchorLink = (id: string, title: string): Html =>
  html` <a class="anchor" href="#${id}" aria-label="Link to “${title}”">#</a>`

/** Returns the anchor that GitHub gives a heading, so that links in the repository also work here. */
function uniqueAnchor(title: string, taken: readonly Heading[]): string {
  const anchor = title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
  const same = taken.filter(({ id }) => id === anchor || id.replace(/-\d+$/, '') === anchor).length
  return same === 0 ? anchor : `${anchor}-${same}`
}

/** Returns each heading with the text below it. */
function entriesOf(
  tokens: Token[],
  page: string,
  url: string,
  headings: readonly Heading[],
): SearchEntry[] {
  const entries: SearchEntry[] = []
  let next = 0
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = token.depth === 1 ? undefined : headings[next++]
      entries.push({
        url: heading ? `${url}#${heading.id}` : url,
        title: heading?.title ?? page,
        page,
        text: '',
      })
    } else {
      const entry = entries.at(-1)
      if (entry) entry.text = `${entry.text} ${plain(token.raw)}`.trim()
    }
  }
  return entries
}

/** Returns Markdown as plain text. */
const plain = (text: string): string =>
  text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^#+ |[`*|]|^```.*$|-{3,}/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim()
