import type { ComponentChildren } from 'preact'
import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { isShared } from '../../shared.ts'
import { setUrl, urlChoice, urlValue } from '../../urlState.ts'
import { useQueryOf } from '../../useQuery.ts'
import type { ViewQuery } from '../../view/view.ts'
import { CountryMap } from './countryMap.tsx'
import { type Dimension, dimensions, PanelRows } from './panelRows.tsx'

/** What each panel can be by; the first is shown at first. */
const panels: { title: string; dimensions: Dimension[] }[] = [
  { title: 'Pages', dimensions: ['page_path', 'entry_page', 'exit_page'] },
  { title: 'Sources', dimensions: ['referrer_host', 'utm_source', 'utm_medium', 'utm_campaign'] },
  { title: 'Places', dimensions: ['country', 'region', 'city', 'language'] },
  { title: 'Devices', dimensions: ['device_type', 'browser', 'os'] },
  { title: 'Events', dimensions: ['event_type', 'page_host', 'resolved'] },
]

const firstOnes = [...panels.map(({ dimensions: [first] }) => first!), 'page_host']
const limit = 8
const wholeLimit = 200
/** The parameter of the address that names the dimension of which more is shown. */
const whole = 'all'
/** The one that says by which dimension a panel is shown. */
const parameterOf = (title: string): string => title.toLowerCase()

/** Breakdown of the events: the most frequent values of each panel's dimension. */
export function Panels({ query, children }: { query: ViewQuery; children: ComponentChildren }) {
  // One look at the events for what all panels show at first.
  const first = useQueryOf(JSON.stringify(query), () =>
    api.getAnalyticsBreakdown({ ...query, dimensions: firstOnes.join(','), limit }),
  )
  return (
    <AsyncView query={first} lines={8}>
      {({ breakdowns }) => (
        <div class="panels">
          {panels.map((panel) => (
            <Panel
              key={panel.title}
              title={panel.title}
              choices={panel.dimensions.filter(
                (dimension) => !isShared() || dimension !== 'resolved',
              )}
              first={withoutOwnHosts(breakdowns, panel.dimensions[0]!)}
              query={query}
            />
          ))}
          {children}
        </div>
      )}
    </AsyncView>
  )
}

/** A breakdown without the site's own pages, which are where visitors came from inside it, not to it. */
function withoutOwnHosts(breakdowns: Record<string, Breakdown>, dimension: Dimension): Breakdown {
  const found = breakdowns[dimension]!
  if (dimension !== 'referrer_host') return found
  const own = breakdowns.page_host!.values.map(({ value }) => value)
  return {
    ...found,
    values: found.values.filter(({ value }) => value === null || !own.includes(value)),
  }
}

type Breakdown = Awaited<ReturnType<typeof api.getAnalyticsBreakdown>>['breakdowns'][string]

function Panel({
  title,
  choices,
  first,
  query,
}: {
  title: string
  choices: Dimension[]
  first: Breakdown
  query: ViewQuery
}) {
  const [shown] = urlChoice(parameterOf(title), choices)
  const isWhole = urlValue(whole) === shown
  const isFirst = shown === choices[0] && !isWhole
  const other = useQueryOf(JSON.stringify([query, isFirst ? null : shown, isWhole]), async () => {
    if (isFirst) return null
    const dimensions = shown === 'referrer_host' ? `${shown},page_host` : shown
    const asked = { ...query, dimensions, limit: isWhole ? wholeLimit : limit }
    const { breakdowns } = await api.getAnalyticsBreakdown(asked)
    return { of: shown, breakdown: withoutOwnHosts(breakdowns, shown) }
  })
  // The earlier response has another dimension.
  const found = isFirst ? first : other.value?.of === shown ? other.value.breakdown : undefined
  return (
    <section class="card panel" aria-label={title}>
      <header class="panel-header">
        <h2>{title}</h2>
        <fieldset class="bare choices" aria-label={`${title} by`}>
          {choices.map((dimension) => (
            <button
              key={dimension}
              type="button"
              aria-pressed={dimension === shown}
              onClick={() =>
                setUrl(
                  { [parameterOf(title)]: dimension === choices[0] ? '' : dimension, [whole]: '' },
                  { replace: true },
                )
              }
            >
              {dimensions[dimension].name}
            </button>
          ))}
        </fieldset>
      </header>
      {shown === 'country' && <CountryMap query={query} />}
      <AsyncView query={{ ...other, value: found }} lines={limit}>
        {(breakdown) => (
          <PanelRows
            projectId={query.project_id}
            dimension={shown}
            breakdown={breakdown}
            isWhole={isWhole}
            showAll={() => setUrl({ [whole]: shown })}
          />
        )}
      </AsyncView>
    </section>
  )
}
