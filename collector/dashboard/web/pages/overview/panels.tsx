import type { ComponentChildren } from 'preact'
import { ActionsMenu } from '../../components/actionsMenu.tsx'
import { AsyncView } from '../../components/asyncView.tsx'
import { lazyPage } from '../../lazyPage.tsx'
import { isShared } from '../../shared.ts'
import { setUrl, urlChoice, urlValue } from '../../urlState.ts'
import type { Window } from '../../view/periods.ts'
import { useRefreshed, type ViewQuery } from '../../view/view.ts'
import { readBreakdowns, type Values } from './breakdown.ts'
import { CountryMap } from './countryMap.tsx'
import { type Dimension, dimensionOf } from './dimensions.ts'
import { PanelsSkeleton } from './overviewSkeleton.tsx'
import { PanelCsv } from './panelCsv.tsx'
import { PanelRows } from './panelRows.tsx'

const PanelDetails = lazyPage(() =>
  import('./panelDetails.tsx').then(({ PanelDetails }) => PanelDetails),
)

/** The dimensions of each panel; the first is the default. */
const panels: { title: string; dimensions: Dimension[] }[] = [
  { title: 'Pages', dimensions: ['page_path', 'entry_page', 'exit_page'] },
  {
    title: 'Sources',
    dimensions: ['source', 'channel', 'referrer_host', 'utm_source', 'utm_medium', 'utm_campaign'],
  },
  { title: 'Places', dimensions: ['country', 'region', 'city', 'language'] },
  { title: 'Devices', dimensions: ['device_type', 'browser', 'os'] },
  { title: 'Events', dimensions: ['event_type', 'event_data.name', 'page_host', 'resolved'] },
]

/** The dimensions that a share link cannot read. */
const unshared: readonly Dimension[] = ['event_data.name', 'resolved']

const limit = 8
/** The parameter of the address with the dimension whose details are open. */
const open = 'details'
/** Returns the parameter with the dimension of a panel. */
const parameterOf = (title: string): string => title.toLowerCase()

/** The values with the most visitors of several dimensions, one panel each. */
export function Panels({
  query,
  compared,
  goal,
  visitors,
  isStale,
  children,
}: {
  query: ViewQuery
  /** The window whose visitors details compare; null without a comparison. */
  compared: Window | null
  /** The name of the goal whose conversions each value has. */
  goal: string | undefined
  /** All visitors of the period. */
  visitors: number
  /** Whether they are those of an earlier view. */
  isStale: boolean
  children: ComponentChildren
}) {
  // One request for the default dimensions of all panels.
  const first = useRefreshed([query, goal], () =>
    readBreakdowns(
      { ...query, goal },
      panels.map(({ dimensions: [first] }) => first!),
      limit,
    ),
  )
  return (
    <AsyncView query={first} skeleton={<PanelsSkeleton />}>
      {(breakdowns) => (
        <div class={first.isStale ? 'panels stale' : 'panels'} aria-busy={first.isStale}>
          {panels.map(({ title, dimensions }) => (
            <Panel
              key={title}
              title={title}
              choices={dimensions.filter(
                (dimension) => !isShared() || !unshared.includes(dimension),
              )}
              first={breakdowns.get(dimensions[0]!)!}
              query={query}
              compared={compared}
              goal={goal}
              visitors={visitors}
              isStale={isStale}
              isFirstStale={first.isStale}
            />
          ))}
          {children}
        </div>
      )}
    </AsyncView>
  )
}

function Panel({
  title,
  choices,
  first,
  query,
  compared,
  goal,
  visitors,
  isStale,
  isFirstStale,
}: {
  title: string
  choices: Dimension[]
  first: Values
  query: ViewQuery
  compared: Window | null
  goal: string | undefined
  visitors: number
  isStale: boolean
  /** Whether `first` is of an earlier view. */
  isFirstStale: boolean
}) {
  const [shown, choose] = urlChoice(parameterOf(title), choices)
  const isFirst = shown === choices[0]
  const readOther = async () => {
    if (isFirst) return null
    return {
      of: shown,
      values: (await readBreakdowns({ ...query, goal }, [shown], limit)).get(shown)!,
    }
  }
  const other = useRefreshed([query, goal, isFirst ? null : shown], readOther)
  // An earlier response may belong to another dimension.
  const found = isFirst ? first : other.value?.of === shown ? other.value.values : undefined
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
              onClick={() => choose(dimension)}
            >
              {dimensionOf(dimension).name}
            </button>
          ))}
        </fieldset>
        <ActionsMenu of={title}>
          <PanelCsv query={{ ...query, goal }} dimension={shown} />
        </ActionsMenu>
      </header>
      {shown === 'country' && <CountryMap query={query} />}
      <AsyncView query={{ ...other, value: found }} lines={limit}>
        {({ values }) => (
          <PanelRows
            projectId={query.project_id}
            dimension={shown}
            values={values}
            // A share of another period's total would be wrong.
            visitors={(isFirst ? isFirstStale : other.isStale) === isStale ? visitors : 0}
          />
        )}
      </AsyncView>
      <div class="actions panel-foot">
        <button type="button" onClick={() => setUrl({ [open]: shown })}>
          Details<span class="visually-hidden"> of {title}</span>
        </button>
      </div>
      {urlValue(open) === shown && (
        <PanelDetails
          title={title}
          query={{ ...query, goal }}
          compared={compared}
          dimension={shown}
          visitors={visitors}
          close={() => setUrl({ [open]: '' }, { replace: true })}
        />
      )}
    </section>
  )
}
