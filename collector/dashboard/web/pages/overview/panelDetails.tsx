import { useState } from 'preact/hooks'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { wholeNumber } from '../../format.ts'
import type { Window } from '../../view/periods.ts'
import type { Property } from '../../view/properties.ts'
import { useRefreshed } from '../../view/view.ts'
import { type PanelQuery, readBreakdowns, type Values, valuesMax } from './breakdown.ts'
import { type Dimension, headOf } from './dimensions.ts'
import { columnsOf, type PanelRow } from './panelColumns.tsx'
import { PanelCsv } from './panelCsv.tsx'
import { PropertyChoice } from './propertyChoice.tsx'

const pageRows = 50

/** The dimensions whose values are pages. */
const pageDimensions: readonly Dimension[] = ['page_path', 'entry_page', 'exit_page']

/** Returns the address of the only site; undefined for several, because a page does not name its site. */
function siteOf(hosts: Values | undefined): string | undefined {
  const names = (hosts?.values ?? []).flatMap(({ value }) => value || [])
  if (names.length !== 1) return undefined
  return `${/^(localhost|127\.)/.test(names[0]!) ? 'http' : 'https'}://${names[0]}`
}

/** Reads all values of a dimension in the period, and in the compared one. */
async function readFound(
  query: PanelQuery,
  compared: Window | null,
  dimension: Dimension,
): Promise<PanelRow> {
  const read = (dimensions: readonly Dimension[], window: Partial<Window> = {}) =>
    readBreakdowns({ ...query, ...window }, dimensions, valuesMax)
  const [now, before] = await Promise.all([
    read(pageDimensions.includes(dimension) ? [dimension, 'page_host'] : [dimension]),
    compared && read([dimension], compared),
  ])
  return {
    ...now.get(dimension)!,
    before: before?.get(dimension),
    site: siteOf(now.get('page_host')),
  }
}

/** All values of a dimension, with search and order, and the change against the compared period. */
export function PanelDetails({
  title,
  query,
  compared,
  dimension: of,
  visitors,
  close,
}: {
  title: string
  query: PanelQuery
  compared: Window | null
  dimension: Dimension
  /** All visitors of the period. */
  visitors: number
  close(): void
}) {
  const [property, choose] = useState<Property | undefined>(undefined)
  const dimension = property ?? of
  const found = useRefreshed([query, compared, dimension], () =>
    readFound(query, compared, dimension),
  )
  return (
    <Dialog title={`Details of ${title.toLowerCase()}`} close={close} class="wide-dialog">
      {of === 'event_data.name' && (
        <PropertyChoice query={query} chosen={property} choose={choose} />
      )}
      <AsyncView query={found} lines={10}>
        {(found) => (
          <div>
            <DataTable
              caption={`${title} by ${headOf(dimension).toLowerCase()}`}
              prefix={`${dimension}_`}
              columns={columnsOf({
                dimension,
                projectId: query.project_id,
                visitors,
                found,
                close,
              })}
              rows={found.values}
              keyOf={({ value }) => String(value)}
              pageRows={pageRows}
              empty="Nothing in this period."
            />
            {found.has_more && (
              <p class="hint">
                These are the {wholeNumber(valuesMax)} with the most visitors. Filter to see others.
              </p>
            )}
          </div>
        )}
      </AsyncView>
      <div class="actions">
        <PanelCsv query={query} dimension={dimension} />
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
