import { isTraversal, parse, type Selector } from 'css-what'
import { invalidParameter } from '../../api/http/errors.ts'

/** Functional pseudo-classes that all browsers of the pixel support, and that contain selectors. */
const withSelectors = ['not', 'is', 'where']
const withNth = ['nth-child', 'nth-last-child', 'nth-of-type', 'nth-last-of-type']
const plain = [
  'first-child',
  'last-child',
  'only-child',
  'first-of-type',
  'last-of-type',
  'only-of-type',
  'root',
  'empty',
  'checked',
  'disabled',
  'enabled',
  'required',
  'optional',
  'read-only',
  'read-write',
  'invalid',
  'valid',
  'hover',
  'focus',
  'focus-within',
  'active',
  'link',
  'target',
  'indeterminate',
  'placeholder-shown',
]
const nth = /^\s*(even|odd|[+-]?\d*n(\s*[+-]\s*\d+)?|[+-]?\d+)\s*$/i
const aName = /^(--|-?[a-z_\u0080-\uffff])[\w\u0080-\uffff-]*$/i
/** Strings and escapes can contain anything. A selector with simple strings and escapes shows its form. */
const quoted = /"(?:[^"\\\n\r\f]|\\[^\n\r\f])*"|'(?:[^'\\\n\r\f]|\\[^\n\r\f])*'/g
const escaped = /\\(?:[\da-f]{1,6}\s?|[^\n\r\f\da-f])/gi
/** Remains that would extend into the next selector of a list. */
const reachesOut = /["'\\]|\/\*/

/**
 * Throws 400 for the first selector that a browser might refuse. The pixel queries all selectors at once, so
 * one invalid selector would disable all. `parameter` is the name of the list.
 */
export function requireSelectors(selectors: readonly string[], parameter: string): void {
  for (const [index, selector] of selectors.entries()) {
    const fault = faultOf(selector)
    if (fault) throw invalidParameter(`${parameter}[${index}]`, fault)
  }
}

function faultOf(selector: string): string | undefined {
  const form = selector.replace(quoted, '"s"').replace(escaped, 'e')
  if (reachesOut.test(form.replaceAll('"s"', ''))) return notASelector
  try {
    const fault = faultOfList(parse(form))
    return fault && `${notASelector}: ${fault}`
  } catch (error) {
    return `${notASelector}: ${(error as Error).message}`
  }
}

const notASelector = 'must be a CSS selector that all browsers support'

function faultOfList(list: Selector[][]): string | undefined {
  if (list.length === 0) return 'it is empty'
  for (const selector of list) {
    if (selector.length === 0) return 'it is empty'
    for (const [index, part] of selector.entries()) {
      const follows = index === 0 || isTraversal(selector[index - 1]!)
      const fault = isTraversal(part)
        ? faultOfCombinator(part, follows || index === selector.length - 1)
        : faultOfPart(part, follows)
      if (fault) return fault
    }
  }
}

const combinators = ['descendant', 'child', 'sibling', 'adjacent']

const faultOfCombinator = ({ type }: Selector, isLoose: boolean): string | undefined =>
  isLoose || !combinators.includes(type) ? 'a combinator must be between two selectors' : undefined

/** `isFirst`: only the first part may be an element's name. */
function faultOfPart(part: Selector, isFirst: boolean): string | undefined {
  switch (part.type) {
    case 'tag':
    case 'universal':
      if (part.namespace !== null) return 'namespaces are not supported'
      if (!isFirst) return 'the element name must come first'
      return part.type === 'tag' ? faultOfName(part.name) : undefined
    case 'attribute': {
      if (part.namespace !== null) return 'namespaces are not supported'
      if (part.action === 'not') return '!= is not supported'
      return (
        faultOfName(part.name) ?? (part.action === 'exists' ? undefined : faultOfName(part.value))
      )
    }
    case 'pseudo':
      return faultOfPseudo(part.name, part.data)
    default:
      return `${part.type} is not supported`
  }
}

const faultOfName = (name: string): string | undefined =>
  aName.test(name) ? undefined : `${name || 'an empty text'} is not a name`

function faultOfPseudo(name: string, data: string | Selector[][] | null): string | undefined {
  if (Array.isArray(data))
    return withSelectors.includes(name) ? faultOfList(data) : `:${name} is not supported`
  if (withNth.includes(name) && data !== null)
    return nth.test(data) ? undefined : `:${name}(${data}) is not supported`
  return plain.includes(name) && data === null ? undefined : `:${name} is not supported`
}
