import type { ComponentChildren } from 'preact'

/** Stands where something is on its way, in about its shape, so that nothing jumps when it comes. */
export function Skeleton({
  lines = 4,
  children,
}: {
  lines?: number | undefined
  /** The shape; absent: so many lines. */
  children?: ComponentChildren
}) {
  return (
    <div class={children ? 'loading' : 'loading skeleton'} role="status">
      <span class="visually-hidden">Loading…</span>
      {children ?? <Bars count={lines} />}
    </div>
  )
}

/** Lines of a skeleton. */
export const Bars = ({ count }: { count: number }) => (
  <>
    {Array.from({ length: count }, (_, line) => (
      <span key={line} class="bar" aria-hidden="true" />
    ))}
  </>
)

/** The shape of a table. */
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
