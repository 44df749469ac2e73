import type { ComponentChildren } from 'preact'

/** A placeholder with the approximate shape of loading content, so that the layout does not jump. */
export function Skeleton({
  lines = 4,
  children,
}: {
  lines?: number | undefined
  /** The shape; absent: lines. */
  children?: ComponentChildren
}) {
  return (
    <div class={children ? 'loading' : 'loading skeleton'} role="status">
      <span class="visually-hidden">Loading…</span>
      {children ?? <Bars count={lines} />}
    </div>
  )
}

/** Placeholder lines. */
export const Bars = ({ count }: { count: number }) => (
  <>
    {Array.from({ length: count }, (_, line) => (
      <span key={line} class="bar" aria-hidden="true" />
    ))}
  </>
)

/** A placeholder for a table. */
export const TableSkeleton = ({ columns, rows = 8 }: { columns: number; rows?: number }) => (
  <Skeleton>
    <div class="table-skeleton" aria-hidden="true">
      {Array.from({ length: rows + 1 }, (_, row) => (
        <div key={row}>
          <Bars count={Math.min(columns, 8)} />
        </div>
      ))}
    </div>
  </Skeleton>
)
