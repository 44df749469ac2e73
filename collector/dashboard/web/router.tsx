import { signal } from '@preact/signals'
import type { AnchorHTMLAttributes } from 'preact'

/** The address's path, without query and hash. */
export const currentPath = signal(location.pathname)
/** The address's query, with its question mark. */
export const currentSearch = signal(location.search)

const readAddress = () => {
  currentPath.value = location.pathname
  currentSearch.value = location.search
}

/**
 * Whether the user may leave the page for this address. A page that returns false asks the user, and may
 * navigate later.
 */
type MayLeave = (to: string) => boolean
let mayLeave: MayLeave | null = null

/**
 * Makes `ask` decide whether another page may be shown, also for Back and Forward. Returns a function that
 * ends this.
 */
export function guardLeaving(ask: MayLeave): () => void {
  mayLeave = ask
  return () => {
    if (mayLeave === ask) mayLeave = null
  }
}

const isHeld = (to: string): boolean =>
  new URL(to, location.origin).pathname !== currentPath.value && mayLeave?.(to) === false

addEventListener('popstate', () => {
  if (isHeld(location.pathname + location.search)) {
    history.pushState(null, '', currentPath.value + currentSearch.value)
  } else readAddress()
})

/** Shows another page of the dashboard; `replace` adds no entry to the history. */
export function go(to: string, { replace = false } = {}): void {
  if (isHeld(to)) return
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  if (location.pathname !== currentPath.value) scrollTo(0, 0)
  readAddress()
}

/** A link to a page of the dashboard, which loads no new document unless the user requests it. */
export function Link({
  href,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
      return
    event.preventDefault()
    go(href)
  }
  return <a href={href} onClick={follow} {...rest} />
}

/** Returns the values of a pattern's `:names` in a path; null if it does not match. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const given = path.replace(/(?<=.)\/$/, '').split('/')
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = given[i]!
    else if (part !== given[i]) return null
  }
  return params
}
