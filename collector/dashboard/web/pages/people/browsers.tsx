import { useState } from 'preact/hooks'
import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { ChargedList } from '../../components/chargedList.tsx'
import { useChargedRead } from '../../components/chargedRead.tsx'
import { CsvButton } from '../../components/csvButton.tsx'
import { type Column, DataTable } from '../../components/dataTable.tsx'
import { RelativeTime } from '../../components/relativeTime.tsx'
import { counted, countryName } from '../../format.ts'
import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'
import { setUrl } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { audienceSearch } from '../../view/audienceSearch.ts'
import { textOf } from '../../view/filterText.ts'
import { type FunnelStep, withins } from '../../view/funnelView.ts'
import { labelOfValue } from '../../view/labels.ts'
import { nicknameOf } from '../../view/nickname.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import { useView, type ViewQuery } from '../../view/view.ts'
import { Country } from '../overview/icon.tsx'

type Page = Answer<'listAnalyticsVisitors'>
type Visitor = Page['visitors'][number]

const pageLength = 50

const columns: Column<Visitor>[] = [
  {
    name: 'visitor',
    label: 'Visitor',
    value: ({ cookie_id, resolved }) => `${nicknameOf(cookie_id)}${resolved ? ' identified' : ''}`,
    // The badge is on a second line where the first has no room.
    show: ({ cookie_id, resolved }) => (
      <>
        <span class="unbroken">{nicknameOf(cookie_id)}</span>{' '}
        {resolved && <span class="badge">identified</span>}
      </>
    ),
  },
  {
    name: 'last',
    label: 'Last seen',
    value: ({ last_ms }) => last_ms,
    show: ({ last_ms }) => <RelativeTime at={new Date(last_ms).toISOString()} />,
  },
  {
    name: 'country',
    label: 'Country',
    value: ({ country }) => country && countryName(country),
    show: ({ country }) => country && <Country code={country} />,
  },
  {
    name: 'device',
    label: 'Device',
    value: ({ device_type }) => device_type && labelOfValue('device_type', device_type),
  },
  { name: 'browser', label: 'Browser', value: ({ browser }) => browser },
  {
    name: 'source',
    label: 'Source',
    value: ({ source }) => source ?? 'Direct',
    show: ({ source }) => (
      <span class="cut" title={source ?? undefined}>
        {source ?? 'Direct'}
      </span>
    ),
  },
  { name: 'pages', label: 'Pages', isNumber: true, value: ({ pages }) => pages },
  { name: 'events', label: 'Events', isNumber: true, value: ({ events }) => events },
]
const csvHead = [
  'cookie_id',
  'resolved',
  'country',
  'device_type',
  'browser',
  'os',
  'source',
  'pages',
  'events',
  'first_ms',
  'last_ms',
] as const

const csvRows = ({ visitors }: Page) =>
  visitors.map((visitor) =>
    csvHead.map((name) => {
      const value = visitor[name]
      return typeof value === 'boolean' ? String(value) : value
    }),
  )

/** Returns the number of visitors of a view, or of a funnel's step; free. */
async function countVisitors(query: ViewQuery, funnel: FunnelStep | null): Promise<number> {
  if (!funnel) return (await api.getAnalyticsOverview(query)).overview.visitors
  const { steps } = await api.getAnalyticsFunnel({
    ...query,
    steps: [...funnel.steps],
    within_ms: Number(funnel.within),
  })
  const at = (step: number) => steps[step - 1]?.visitors ?? 0
  return at(funnel.step) - (funnel.hasStopped ? at(funnel.step + 1) : 0)
}

/** The list that was read last, so that the way back to it costs nothing. */
let latest: { key: string; page: Page; readAt: number } | null = null
const latestMs = 60_000

/** The visitors of a view. They load at once while they are free; else the price is shown first. */
export function Browsers({
  query,
  funnel,
  listKey,
}: {
  query: ViewQuery
  funnel: FunnelStep | null
  /** Names the list: the same view of the same project. */
  listKey: string
}) {
  const total = useQuery(() => countVisitors(query, funnel))
  const [found, setFound] = useState<Page | null>(() =>
    latest?.key === listKey && Date.now() - latest.readAt < latestMs ? latest.page : null,
  )
  const readPage = async () => {
    const page = await api.listAnalyticsVisitors({
      ...query,
      limit: pageLength,
      ...(found?.next_cursor && { cursor: found.next_cursor }),
      ...(funnel && {
        steps: [...funnel.steps],
        within_ms: Number(funnel.within),
        step: funnel.step,
        outcome: funnel.hasStopped ? 'dropped' : 'reached',
      }),
    })
    const all = { ...page, visitors: [...(found?.visitors ?? []), ...page.visitors] }
    latest = { key: listKey, page: all, readAt: Date.now() }
    setFound(all)
  }
  const charged = { key: listKey, meter: 'events', count: pageLength, isRead: found !== null }
  const read = useChargedRead(charged, readPage)
  return (
    <>
      {funnel && <StepText funnel={funnel} />}
      <AsyncView query={total} lines={1}>
        {(count) => count > 0 && <h2 class="list-count">{counted(count, 'visitor')}</h2>}
      </AsyncView>
      <ChargedList
        read={read}
        total={total.value}
        limit={pageLength}
        noun="visitor"
        action="List"
        found={found && { count: found.visitors.length, hasMore: Boolean(found.next_cursor) }}
        empty={
          funnel ? <p class="empty">No visitor.</p> : <NoEvents projectId={query.project_id} />
        }
        tools={
          found && (
            <>
              <CsvButton name="visitors" head={[...csvHead]} rows={() => csvRows(found)} />
              {!funnel && <AudienceLink projectId={query.project_id} />}
            </>
          )
        }
      >
        <DataTable
          caption="Visitors"
          columns={columns}
          rows={found?.visitors ?? []}
          keyOf={({ cookie_id }) => cookie_id}
          open={({ cookie_id }) => setUrl({ visitor: cookie_id })}
        />
      </ChargedList>
    </>
  )
}

/** Leads to an audience of the visitors that the filters select, if an audience can have these filters. */
function AudienceLink({ projectId }: { projectId: string }) {
  const pathTo = useProjectPath(projectId)
  const search = audienceSearch(useView(projectId).view)
  return (
    search && (
      <Link href={`${pathTo('audiences/new')}${search}`}>Create an audience from this filter</Link>
    )
  )
}

/** The selected visitors, and a link to all. */
function StepText({ funnel: { steps, within, step, hasStopped } }: { funnel: FunnelStep }) {
  return (
    <p>
      Visitors who took {hasStopped ? `no more than ${step}` : step} of these steps{' '}
      {withins[within]}: {steps.map(textOf).join(', then ')}.{' '}
      <button
        type="button"
        class="link"
        onClick={() => setUrl({ step: '', within: '', at: '', outcome: '' })}
      >
        Show all visitors
      </button>
    </p>
  )
}
