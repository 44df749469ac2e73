/** A textlint rule: our list of words and the length of sentences, in paragraphs, headings and cells. */
import { findingsOf } from './findings.mjs'

export function plainWords({ Syntax, RuleError, report }, { seen }) {
  const check = (node) => {
    const text = textOf(node)
    seen(text)
    for (const message of findingsOf(text)) report(node, new RuleError(message))
  }
  return { [Syntax.Paragraph]: check, [Syntax.Header]: check, [Syntax.TableCell]: check }
}

/** The text of a node, with `X` for code. */
function textOf(node) {
  if (node.type === 'Code' || node.type === 'Html' || node.type === 'Image') return 'X'
  if (node.type === 'Break') return ' '
  return node.children ? node.children.map(textOf).join('') : (node.value ?? '')
}
