import type { Bind } from '../../events/query/bind.ts'

/** A time span, the end exclusive; its owner defines the unit. */
export interface Span {
  readonly first: number
  readonly end: number
}

/** Merges ascending spans that follow one another without a gap. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  for (const { first, end } of spans) {
    const last = joined.at(-1)
    if (last?.end === first) joined[joined.length - 1] = { first: last.first, end }
    else joined.push({ first, end })
  }
  return joined
}

/** Returns the parts of a span outside of these ascending spans. */
export function spansBetween(spans: readonly Span[], { first, end }: Span): Span[] {
  const bounds = [first, ...spans.flatMap((span) => [span.first, span.end]), end]
  return bounds.flatMap((bound, index) =>
    index % 2 === 0 && bound < bounds[index + 1]!
      ? [{ first: bound, end: bounds[index + 1]! }]
      : [],
  )
}

/** Returns SQL for whether a value is in one of the spans. */
export function inSpans(value: string, spans: readonly Span[], bind: Bind): string {
  const conditions = spans.map(
    ({ first, end }) => `${value} >= ${bind('Int64', first)} AND ${value} < ${bind('Int64', end)}`,
  )
  return `(${conditions.map((condition) => `(${condition})`).join(' OR ')})`
}
