import type { ComponentChildren } from 'preact'
import { type ListQuery, useAllPages } from '../useQuery.ts'
import { AsyncView } from './asyncView.tsx'
import { type Column, DataTable } from './dataTable.tsx'
import { isArranged } from './listTools.tsx'
import { MoreButton } from './moreButton.tsx'
import { TableSkeleton } from './skeleton.tsx'

/** A list of the API as a table, with a button for the next page, and `empty` without rows. */
export function PagedTable<Row>({
  query,
  ...table
}: {
  query: ListQuery<Row>
  empty: ComponentChildren
  caption: string
  prefix?: string
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  open?(row: Row): void
  href?(row: Row): string
}) {
  const isComing = useAllPages(query, isArranged(table.prefix ?? ''))
  return (
    <AsyncView query={query} skeleton={<TableSkeleton columns={table.columns.length} />}>
      {(rows) => (
        <>
          <DataTable {...table} rows={rows} />
          <MoreButton more={!isComing && query.more} />
        </>
      )}
    </AsyncView>
  )
}
