import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { DataTable } from '../../components/dataTable.tsx'
import { exactTime } from '../../components/time.ts'
import { counted } from '../../format.ts'
import { currentSearch } from '../../router.tsx'
import { setUrl, urlValue } from '../../urlState.ts'
import { recordsQuery, useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { ColumnsDialog } from './columnsDialog.tsx'
import { Cost } from './cost.tsx'
import { columnsDefault, type EventRow, readRows, textOfValue } from './eventRow.ts'
import type { EventsAsked } from './eventsAsked.ts'

const limits = ['50', '100', '500', '1000']

interface Found {
  rows: EventRow[]
  charged: number
  cursor: string | undefined
}

/** Events of a period by filters, read on request; the cost is shown above. */
export function Explorer({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const columns = urlValue('columns').split(',').filter(Boolean)
  const shown = columns.length > 0 ? columns : columnsDefault
  const limit = limits.includes(urlValue('limit')) ? Number(urlValue('limit')) : 50
  const order = urlValue('order') === 'asc' ? 'asc' : 'desc'
  const asked: EventsAsked = {
    ...recordsQuery(query),
    select: [...new Set(['event_id', 'timestamp', 'event_type', ...shown])].join(','),
    limit,
    order,
  }
  const [found, setFound] = useState<Found | null>(null)
  const [isChoosing, setChoosing] = useState(false)
  const key = JSON.stringify([view, shown, limit, order])
  // The loaded rows belong to an earlier request.
  useEffect(() => setFound(null), [key])

  const read = async () => {
    const after = found?.cursor
    const { rows, meta } = await api.listEvents({ ...asked, ...(after && { cursor: after }) })
    const read = rows as EventRow[]
    for (const row of read) readRows.set(row.event_id, row)
    setFound({
      rows: [...(found?.rows ?? []), ...read],
      charged: (found?.charged ?? 0) + meta.charged,
      cursor: meta.has_more ? meta.next_cursor : undefined,
    })
  }

  return (
    <>
      <ViewBar view={view} hasComparison={false} />
      <div class="toolbar">
        <button type="button" onClick={() => setChoosing(true)}>
          Columns
        </button>
        <label>
          Order{' '}
          <select
            value={order}
            onChange={({ currentTarget }) => setUrl({ order: currentTarget.value })}
          >
            <option value="desc">newest first</option>
            <option value="asc">oldest first</option>
          </select>
        </label>
        <label>
          Rows{' '}
          <select
            value={String(limit)}
            onChange={({ currentTarget }) => setUrl({ limit: currentTarget.value })}
          >
            {limits.map((value) => (
              <option key={value}>{value}</option>
            ))}
          </select>
        </label>
      </div>
      {found === null ? (
        <Cost key={currentSearch.value} asked={asked} run={read} />
      ) : (
        <>
          <p class="hint" role="status">
            {counted(found.rows.length, 'event')} read, {found.charged} charged.
          </p>
          {found.rows.length > 0 && (
            <DataTable
              caption="Events"
              columns={shown.map((name) => ({
                name,
                label: name,
                value: (row: EventRow) => textOfValue(row[name]),
                ...(name === 'timestamp' && {
                  show: (row: EventRow) => exactTime(row.timestamp as string),
                }),
              }))}
              rows={found.rows}
              keyOf={({ event_id }) => event_id}
              open={({ event_id }) => setUrl({ event: event_id })}
            />
          )}
          {found.cursor && (
            <p>
              <button type="button" onClick={read}>
                Read {limit} more
              </button>
            </p>
          )}
        </>
      )}
      {isChoosing && <ColumnsDialog shown={shown} close={() => setChoosing(false)} />}
    </>
  )
}
