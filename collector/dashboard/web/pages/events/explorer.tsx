import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { ChargedList } from '../../components/chargedList.tsx'
import { useChargedRead } from '../../components/chargedRead.tsx'
import { type Column, DataTable } from '../../components/dataTable.tsx'
import { Moment } from '../../components/moment.tsx'
import { counted } from '../../format.ts'
import { lazyPage } from '../../lazyPage.tsx'
import { setUrl, urlValue } from '../../urlState.ts'
import { useQueryOf } from '../../useQuery.ts'
import { storyOf, type ToldEvent } from '../../view/eventStory.ts'
import { labelOfField, labelOfValue } from '../../view/labels.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import { isAboutSessions, recordsQuery, useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { Country } from '../overview/icon.tsx'
import { ColumnsDialog } from './columnsDialog.tsx'
import { columnsDefault, type EventRow, readRows, textOfValue } from './eventRow.ts'
import type { EventsRequest } from './eventsAsked.ts'

const SessionFilters = lazyPage(() =>
  import('../../view/sessionFilters.tsx').then(({ SessionFilters }) => SessionFilters),
)

const limits = ['50', '100', '500', '1000']

interface Found {
  key: string
  rows: EventRow[]
  cursor: string | undefined
  readAt: number
}

/** The list that was read last, so that the way back to it costs nothing. */
let latest: Found | null = null
const latestMs = 60_000

/** Events of a period by filters, as far as events can be filtered. */
export function Explorer({ projectId }: { projectId: string }) {
  const { view } = useView(projectId)
  return view.filters.some(isAboutSessions) ? (
    <>
      <ViewBar view={view} hasComparison={false} ofEvents />
      <SessionFilters projectId={projectId} view={view} />
    </>
  ) : (
    <EventList projectId={projectId} />
  )
}

/** The events of a view. They load at once while they are free; else the price is shown first. */
function EventList({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const columns = urlValue('columns').split(',').filter(Boolean)
  const shown = columns.length > 0 ? columns : columnsDefault
  const limit = limits.includes(urlValue('limit')) ? Number(urlValue('limit')) : 50
  const order = urlValue('order') === 'asc' ? 'asc' : 'desc'
  const select = [
    ...new Set(['event_id', 'timestamp', 'event_type', 'page_path', 'event_data', ...shown]),
  ].join(',')
  const asked: EventsRequest = { ...recordsQuery(query), select, limit, order }
  const [isChoosing, setChoosing] = useState(false)
  const key = JSON.stringify([projectId, view, select, limit, order])
  const [held, setFound] = useState<Found | null>(() =>
    latest && Date.now() - latest.readAt < latestMs ? latest : null,
  )
  // Rows of other filters answer another question.
  const found = held?.key === key ? held : null

  const readPage = async (before: Found | null) => {
    const { rows, meta } = await api.listEvents({
      ...asked,
      ...(before?.cursor && { cursor: before.cursor }),
    })
    const read = rows as EventRow[]
    for (const row of read) readRows.set(row.event_id, row)
    latest = {
      key,
      rows: [...(before?.rows ?? []), ...read],
      cursor: meta.has_more ? meta.next_cursor : undefined,
      readAt: Date.now(),
    }
    setFound(latest)
  }
  const total = useQueryOf(key, async () => {
    const { select: _, limit: __, order: ___, ...selection } = asked
    return (await api.countEvents(selection)).total
  })
  const charged = { key, meter: 'events', count: limit, isRead: found !== null }
  const read = useChargedRead(charged, () => readPage(found))

  return (
    <>
      <ViewBar view={view} hasComparison={false} ofEvents />
      <ListTools limit={limit} order={order} chooseColumns={() => setChoosing(true)} />
      <AsyncView query={total} lines={1}>
        {(count) =>
          count > 0 && (
            <h2 class={total.isStale ? 'list-count stale' : 'list-count'}>
              {counted(count, 'event')} {count === 1 ? 'matches' : 'match'}
            </h2>
          )
        }
      </AsyncView>
      <ChargedList
        read={read}
        total={total.value}
        limit={limit}
        noun="event"
        action="Read"
        found={found && { count: found.rows.length, hasMore: found.cursor !== undefined }}
        empty={<NoEvents projectId={projectId} />}
      >
        <DataTable
          caption="Events"
          columns={shown.map(columnOf)}
          rows={found?.rows ?? []}
          keyOf={({ event_id }) => event_id}
          open={({ event_id }) => setUrl({ event: event_id })}
        />
      </ChargedList>
      {isChoosing && <ColumnsDialog shown={shown} close={() => setChoosing(false)} />}
    </>
  )
}

function ListTools({
  limit,
  order,
  chooseColumns,
}: {
  limit: number
  order: 'asc' | 'desc'
  chooseColumns(): void
}) {
  return (
    <div class="toolbar">
      <button type="button" onClick={chooseColumns}>
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
  )
}

/** A field of events as a column. */
function columnOf(name: string): Column<EventRow> {
  const column = { name, label: labelOfField(name) }
  if (name === 'event_type') {
    const textOf = (row: EventRow) => {
      const { action, detail } = storyOf(row as unknown as ToldEvent)
      return row.event_type === 'page_view' || detail === '' ? action : `${action} · ${detail}`
    }
    return { ...column, value: textOf }
  }
  return {
    ...column,
    value: (row) => {
      const value = textOfValue(row[name])
      return typeof value === 'string' ? labelOfValue(name, value) : value
    },
    ...(name === 'timestamp' && { show: (row) => <Moment at={row.timestamp as string} /> }),
    ...(name === 'country' && {
      show: ({ country }) => (country ? <Country code={String(country)} /> : null),
    }),
  }
}
