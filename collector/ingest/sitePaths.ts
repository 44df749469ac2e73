import { segmentPaths } from './segment/segmentPaths.ts'

const paths = new Set(['/e', '/e.gif', ...segmentPaths])

/** Whether a URL, as returned by pathOf, is one that proxies publish under customers' host names. */
export function isSitePath(url: string): boolean {
  const path = url.split('?', 1)[0]!
  return path.startsWith('/p/') || paths.has(path.endsWith('/') ? path.slice(0, -1) : path)
}
