/** HTML that can be inserted safely into a page. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | readonly Part[] | null | undefined | false

/** A template of HTML. It escapes its values, unless they are HTML themselves. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.map((string, n) => string + (n < parts.length ? textOf(parts[n]) : '')).join(''))

function textOf(part: Part): string {
  if (part === null || part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return String(part).replace(/[&<>"]/g, (character) => entities[character]!)
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Returns paragraphs with `code`, the only Markdown in our descriptions. */
export const prose = (text: string | undefined): Html =>
  html`${(text ?? '')
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`

/** Returns one line with `code`. */
export const inline = (text: string | undefined): Html =>
  html`${(text ?? '').split('`').map((part, n) => (n % 2 === 0 ? part : html`<code>${part}</code>`))}`
