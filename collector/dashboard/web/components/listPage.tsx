import type { ComponentChildren } from 'preact'
import type { ListQuery } from '../useQuery.ts'
import type { Column } from './dataTable.tsx'
import { Page } from './page.tsx'
import { PagedTable } from './pagedTable.tsx'

/**
 * A page with a list of the API as a table, with `create` to add to it above. An empty list shows `empty`,
 * which explains it, with `create` below. `children` are dialogs that the page opens.
 */
export function ListPage<Row>({
  title,
  lead,
  create,
  empty,
  children,
  ...table
}: {
  title: string
  lead: string
  create: ComponentChildren
  empty: ComponentChildren
  query: ListQuery<Row>
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  open?(row: Row): void
  href?(row: Row): string
  children?: ComponentChildren
}) {
  return (
    <Page title={title} lead={lead} actions={table.query.value?.length !== 0 && create}>
      <div class="wide">
        <PagedTable
          caption={title}
          {...table}
          empty={
            <>
              {empty}
              {create}
            </>
          }
        />
      </div>
      {children}
    </Page>
  )
}
