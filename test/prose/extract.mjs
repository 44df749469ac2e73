/** The prose in a source file: its comments, and its strings and JSX texts of several words. */
import { parseSync } from 'oxc-parser'

/**
 * Returns `{ comments, strings }`; each text has the line it starts at. An expression within a text becomes `X`.
 * SQL, class names, code and styles are left out.
 */
export function proseOf(path, source) {
  const { program, comments } = parseSync(path, source)
  const lineAt = linesOf(source)
  return {
    comments: joinLineComments(comments, source, lineAt),
    strings: stringsOf(program)
      .filter(({ text }) => isProse(text))
      .map(({ text, start }) => ({ text, line: lineAt(start) })),
  }
}

function linesOf(source) {
  const starts = [0]
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1))
    starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle] <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}

/** Comments without their marks; `//` comments of adjacent lines are one text. */
function joinLineComments(comments, source, lineAt) {
  const texts = []
  let previous = null
  for (const { type, value, start, end } of comments) {
    const line = lineAt(start)
    if (/^\s*(biome-ignore|@ts-|eslint|c8 |v8 |#__|@__)/.test(value)) continue
    const isAlone = /^[ \t]*$/.test(source.slice(source.lastIndexOf('\n', start - 1) + 1, start))
    if (type === 'Line' && isAlone && previous?.endLine === line - 1) {
      previous.text += ` ${value.trim()}`
      previous.endLine = line
      continue
    }
    const text = type === 'Line' ? value.trim() : value.replace(/^[\s*]*\n?|^[ \t]*\*[ \t]?/gm, '')
    previous = type === 'Line' && isAlone ? { text, line, endLine: line } : null
    texts.push(previous ?? { text: text.trim(), line, endLine: lineAt(end) })
  }
  return texts.map(({ text, line }) => ({ text, line }))
}

/** Attributes and keys whose strings are no prose. */
const isCode =
  /^(class|className|d|style|path|href|src|sql|viewBox|points|transform|pattern|accept)$/

function stringsOf(program) {
  const found = []
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (!node || typeof node !== 'object' || typeof node.type !== 'string') return
    if (/^TS|^Import|^ExportAll/.test(node.type) && !/^TS(As|Satisfies|NonNull)/.test(node.type))
      return
    if (node.type === 'JSXAttribute' && isCode.test(node.name.name)) return
    if (node.type === 'Property' && isCode.test(node.key.name ?? ''))
      return visit(node.value.type === 'Literal' ? null : node.value)
    if (node.type === 'TaggedTemplateExpression') return node.quasi.expressions.forEach(visit)
    const text = node.type.startsWith('JSX') ? textOfJsx(node) : textOf(node)
    if (text !== null) found.push({ text, start: node.start })
    // The parts of a text that were no string are looked through for strings of their own.
    for (const part of text === null ? childrenOf(node) : otherParts(node)) visit(part)
  }
  visit(program)
  return found
}

const childrenOf = (node) =>
  Object.entries(node).flatMap(([key, value]) => (key === 'type' ? [] : [value]))

const isJoined = (node) => node.type === 'BinaryExpression' && node.operator === '+'

/** The text of a string, a template or strings that are added; null for other expressions. */
function textOf(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  if (node.type === 'TemplateLiteral')
    return node.quasis.map(({ value }) => value.cooked ?? value.raw).join('X')
  if (!isJoined(node)) return null
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === null && right === null ? null : `${left ?? 'X'}${right ?? 'X'}`
}

function otherParts(node) {
  if (node.type === 'TemplateLiteral') return node.expressions
  if (isJoined(node))
    return [node.left, node.right].flatMap((side) =>
      textOf(side) === null ? [side] : otherParts(side),
    )
  if (node.type.startsWith('JSX'))
    return [...(node.openingElement?.attributes ?? []), ...node.children.flatMap(otherPartsOfChild)]
  return []
}

function otherPartsOfChild(child) {
  if (child.type === 'JSXExpressionContainer')
    return textOf(child.expression) === null ? [child.expression] : otherParts(child.expression)
  if (child.type === 'JSXElement')
    return [...child.openingElement.attributes, ...child.children.flatMap(otherPartsOfChild)]
  return child.type === 'JSXText' ? [] : [child]
}

/** The text of an element that has text among its children: with that of the elements within it. */
function textOfJsx(node) {
  if (node.type !== 'JSXElement' && node.type !== 'JSXFragment') return null
  const hasText = node.children.some(
    (child) => child.type === 'JSXText' && /[A-Za-z]/.test(child.value),
  )
  return hasText ? childrenText(node) : null
}

function childrenText(node) {
  const text = node.children
    .map((child) => {
      if (child.type === 'JSXText') return child.value.replace(/\s+/g, ' ')
      if (child.type === 'JSXExpressionContainer')
        return child.expression.type === 'JSXEmptyExpression'
          ? ''
          : (textOf(child.expression) ?? 'X')
      if (child.type !== 'JSXElement') return ' X '
      return child.openingElement.name.name === 'code' ? 'X' : childrenText(child)
    })
    .join('')
  return text.trim()
}

const isSql =
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|ALTER TABLE|CREATE|WHERE|GROUP BY|ORDER BY|FROM|AND|JOIN|VALUES|PARTITION|ENGINE)\b/

/** Words without a mark between them: a list. */
const isWordList = (text) => /^(\w+\s+){20,}\w+$/.test(text)

/** Text of two words and more in letters as sentences have them. */
const isProse = (text) =>
  !isSql.test(text) &&
  !isWordList(text) &&
  /[A-Za-z]{2,}[,;:]? [a-z]{1,}/.test(text) &&
  !/[{}]{1}\s*\n|=>|;\n|\nfrom \w+ import |^\s*<|\w\(\w*\)\s*[,{]/.test(text)
