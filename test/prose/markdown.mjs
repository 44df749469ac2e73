/** The prose of a Markdown text: paragraphs, headings, list items and table cells, with `X` for code. */
import { lexer } from 'marked'

/** Returns texts, each with the line at which its block starts. */
export function textsOfMarkdown(source) {
  const found = []
  let at = 0
  for (const token of lexer(source)) {
    const line = source.slice(0, at).split('\n').length
    for (const text of textsOfBlock(token)) found.push({ text, line })
    at += token.raw.length
  }
  return found
}

function textsOfBlock(token) {
  switch (token.type) {
    case 'heading':
    case 'paragraph':
    case 'text':
      return [textOf(token.tokens ?? [token])]
    case 'blockquote':
      return token.tokens.flatMap(textsOfBlock)
    case 'list':
      return token.items.flatMap(({ tokens }) => tokens.flatMap(textsOfBlock))
    case 'table':
      return [token.header, ...token.rows].flat().map(({ tokens }) => textOf(tokens))
    default:
      return []
  }
}

const isNoProse = new Set(['codespan', 'html', 'image'])

const textOf = (tokens) =>
  tokens
    .map((token) => {
      if (isNoProse.has(token.type)) return 'X'
      if (token.type === 'br') return ' '
      return token.tokens ? textOf(token.tokens) : token.text
    })
    .join('')
