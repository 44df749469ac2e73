import type { Description } from '../../../schemas/captured.ts'
import { isText } from './text.ts'

const stepsMax = 5
const lengthMax = 100
const testIds = ['data-testid', 'data-test-id', 'data-test', 'data-cy', 'data-qa']

/**
 * Returns a short CSS selector of a clicked element that stays the same after the next release of the page.
 * It is its id, its test attribute, or its role and name. Otherwise it is a path of at most five steps that
 * begins with such an element if there is one. It never uses class names, which builds generate.
 */
export function identifierOf(steps: readonly Description[]): string {
  let path = ''
  for (const [at, step] of steps.slice(0, stepsMax).entries()) {
    const name = nameOf(step) ?? (at === 0 ? roleAndName(step) : undefined)
    path = (name ?? placeOf(step)) + (path && `>${path}`)
    if (name) break
  }
  return path
}

function nameOf(step: Description): string | undefined {
  if (isLasting(step.id)) return `#${step.id}`
  const testId = testIds.find((name) => isShort(step[name]))
  return testId && selector(testId, step[testId] as string)
}

function roleAndName(step: Description): string | undefined {
  const { role } = step
  const tag = isShort(role) ? selector('role', role) : step.tag
  const by = ['aria-label', 'name'].find((name) => isShort(step[name]))
  return by && tag + selector(by, step[by] as string)
}

const placeOf = ({ tag, nth }: Description): string =>
  typeof nth === 'number' && nth > 1 ? `${tag}:nth-of-type(${nth})` : tag

const selector = (attribute: string, value: string): string =>
  `[${attribute}=${/^[a-z][\w-]*$/i.test(value) ? value : JSON.stringify(value)}]`

const isShort = (value: unknown): value is string =>
  isText(value) && value !== '' && value.length <= lengthMax

/**
 * Frameworks generate new ids on each load. These have long numbers, unusual characters, or look like a hash.
 */
const isLasting = (id: unknown): id is string =>
  isShort(id) &&
  /^[a-z][\w-]*$/i.test(id) &&
  !/\d{3}/.test(id) &&
  !/(?=[a-f]*\d)[\da-f]{8}/i.test(id)
