import { api } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { percent } from '../../format.ts'
import { urlChoice } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { FilterButton } from '../../view/filterButton.tsx'
import { filterFor } from '../../view/filterText.ts'
import { labelOfField } from '../../view/labels.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import type { RecordsQuery } from '../../view/view.ts'

const groups = [
  'page_path',
  'referrer_host',
  'utm_source',
  'utm_campaign',
  'country',
  'device_type',
  'pixel_id',
] as const
type Group = (typeof groups)[number]

const labelOf = (group: Group): string => (group === 'pixel_id' ? 'Pixel' : labelOfField(group))

interface Rate {
  value: string | null
  events: number
  known: number
}

const rateOf = ({ events, known }: Rate): number => (events === 0 ? 0 : known / events)

/** The number of events of known visitors, by page, source or another field; free. */
export function MatchRate({ query }: { query: RecordsQuery }) {
  const [group, choose] = urlChoice('by', groups)
  return (
    <>
      <div class="toolbar">
        <label>
          By{' '}
          <select value={group} onChange={({ currentTarget: { value } }) => choose(value as Group)}>
            {groups.map((name) => (
              <option key={name} value={name}>
                {labelOf(name)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Rates key={group} query={query} group={group} />
    </>
  )
}

function Rates({ query, group }: { query: RecordsQuery; group: Group }) {
  const rates = useQuery(async () => {
    const { counts } = await api.countEvents({
      ...query,
      group_by: `${group},resolved`,
      limit: 1_000,
    })
    const found = new Map<string | null, Rate>()
    for (const row of counts as (Record<string, unknown> & { count: number })[]) {
      const value = (row[group] as string | null) || null
      const rate = found.get(value) ?? { value, events: 0, known: 0 }
      found.set(value, {
        value,
        events: rate.events + row.count,
        known: rate.known + (row.resolved ? row.count : 0),
      })
    }
    return [...found.values()]
  })
  return (
    <AsyncView query={rates}>
      {(rows) =>
        rows.length === 0 ? (
          <NoEvents projectId={query.project_id} />
        ) : (
          <DataTable
            caption="Match rate"
            columns={[
              {
                name: 'value',
                label: labelOf(group),
                value: ({ value }: Rate) => value,
                show: ({ value }: Rate) =>
                  value === null ? (
                    <span class="nothing">–</span>
                  ) : (
                    <FilterButton filters={[filterFor(group, value)]} title={value}>
                      {value}
                    </FilterButton>
                  ),
              },
              {
                name: 'events',
                label: 'Events',
                isNumber: true,
                value: ({ events }: Rate) => events,
                show: ({ events }: Rate) => records(events),
              },
              {
                name: 'known',
                label: 'Of identified visitors',
                isNumber: true,
                value: ({ known }: Rate) => known,
                show: ({ known }: Rate) => records(known),
              },
              {
                name: 'rate',
                label: 'Match rate',
                isNumber: true,
                value: rateOf,
                show: (rate: Rate) => percent(rateOf(rate)),
              },
            ]}
            rows={rows}
            keyOf={({ value }) => value ?? ''}
          />
        )
      }
    </AsyncView>
  )
}
