import type { Answer } from '../../../../api/client/index.ts'
import { wholeNumber } from '../../format.ts'

type Link = Answer<'getAnalyticsJourneys'>['links'][number]

interface Node {
  key: string
  /** Null: all other pages. */
  label: string | null
  x: number
  y: number
  height: number
  sessions: number
}

interface Band {
  key: string
  /** An SVG path along the middle of the band. */
  path: string
  thickness: number
  title: string
}

const columnWidth = 220
const nodeWidth = 10
const heightMax = 420
const gap = 14

/**
 * Places the nodes and bands of a Sankey diagram, whose columns are the n-th pages of sessions. The height of
 * a node is its number of sessions, the largest first. Bands start and end in the order of their other ends.
 */
export function layOut(links: readonly Link[]): {
  nodes: Node[]
  bands: Band[]
  width: number
  height: number
} {
  const between = links.filter(({ ends }) => !ends)
  const sessionsOf = new Map<
    string,
    { column: number; label: string | null; in: number; out: number }
  >()
  const nodeOf = (column: number, label: string | null) => {
    const key = `${column} ${label ?? ''}`
    const node = sessionsOf.get(key) ?? { column, label, in: 0, out: 0 }
    sessionsOf.set(key, node)
    return node
  }
  for (const { step, from_page, to_page, ends, sessions } of links) {
    nodeOf(step, from_page).out += sessions
    if (!ends) nodeOf(step + 1, to_page).in += sessions
  }
  const places = [...sessionsOf.values()].map(({ column }) => column)
  // Journeys to an end may all be shorter than the most steps.
  const first = Math.min(...places)
  const columns = Math.max(...places) - first + 1
  const byColumn = Array.from({ length: columns }, (_, index) =>
    [...sessionsOf]
      .filter(([, { column }]) => column === first + index)
      .map(([key, { label, in: arriving, out }]) => ({
        key,
        label,
        sessions: Math.max(arriving, out),
      }))
      .sort((one, other) => other.sessions - one.sessions),
  )
  const total = Math.max(
    ...byColumn.map((nodes) => nodes.reduce((sum, { sessions }) => sum + sessions, 0)),
  )
  const scale = heightMax / total
  const nodes = byColumn.flatMap((column, index) => {
    let y = 0
    return column.map((node): Node => {
      const height = Math.max(1, node.sessions * scale)
      const placed = { ...node, x: index * columnWidth, y, height }
      y += height + gap
      return placed
    })
  })
  const placeOf = new Map(nodes.map((node) => [node.key, node]))
  const left = new Map<string, number>()
  const arrived = new Map<string, number>()
  const bands = between
    .map((link) => ({
      ...link,
      from: placeOf.get(`${link.step} ${link.from_page ?? ''}`)!,
      to: placeOf.get(`${link.step + 1} ${link.to_page ?? ''}`)!,
    }))
    .sort((one, other) => one.from.y - other.from.y || one.to.y - other.to.y)
    .map(({ from, to, sessions }): Band => {
      const thickness = Math.max(1, sessions * scale)
      const startY = from.y + (left.get(from.key) ?? 0) + thickness / 2
      const endY = to.y + (arrived.get(to.key) ?? 0) + thickness / 2
      left.set(from.key, (left.get(from.key) ?? 0) + thickness)
      arrived.set(to.key, (arrived.get(to.key) ?? 0) + thickness)
      const [startX, endX] = [from.x + nodeWidth, to.x]
      const middle = (startX + endX) / 2
      return {
        key: `${from.key} ${to.key}`,
        path: `M${startX},${startY}C${middle},${startY} ${middle},${endY} ${endX},${endY}`,
        thickness,
        title: `${from.label ?? 'Other pages'} → ${to.label ?? 'Other pages'}: ${wholeNumber(sessions)}`,
      }
    })
  const height = Math.max(...nodes.map((node) => node.y + node.height)) + 12
  return { nodes, bands, width: columns * columnWidth, height }
}
