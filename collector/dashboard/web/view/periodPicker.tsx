import { useState } from 'preact/hooks'
import { dateText } from '../format.ts'
import { lazyPage } from '../lazyPage.tsx'
import { zone, zoneText } from '../zone.ts'
import {
  type Comparison,
  comparisons,
  type Days,
  neighbourOf,
  type Period,
  periods,
} from './periods.ts'
import { changeView, type View } from './view.ts'

const CustomDays = lazyPage(() => import('./customDays.tsx').then(({ CustomDays }) => CustomDays))

const spanOf = ({ from, to }: Days): string =>
  from === to ? dateText(from) : `${dateText(from)} – ${dateText(to)}`

/** Selects the days of a page and the days for comparison; buttons open the previous and the next period. */
export function PeriodPicker({ view, hasComparison }: { view: View; hasComparison: boolean }) {
  const { period, days, comparison, comparedDays } = view
  const [open, setOpen] = useState<'period' | 'comparison' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <div class="period">
        <Step days={days} direction={-1} />
        <Choice
          label="Period"
          choices={periods}
          chosen={period}
          customName={spanOf(days)}
          choose={(period) =>
            period === 'custom' ? setOpen('period') : changeView({ period: period as Period })
          }
        />
        <Step days={days} direction={1} />
        <span class="zone" title={`Days are in ${zone.value.name}.`}>
          {zoneText()}
        </span>
      </div>
      {hasComparison && (
        <Choice
          label="Comparison"
          choices={comparisons}
          chosen={comparison}
          customName={comparedDays ? spanOf(comparedDays) : ''}
          choose={(comparison) =>
            comparison === 'custom'
              ? setOpen('comparison')
              : changeView({ comparison: comparison as Comparison })
          }
        />
      )}
      {open === 'period' && (
        <CustomDays
          title="Custom period"
          days={days}
          choose={(days) => changeView({ period: 'custom', days })}
          close={close}
        />
      )}
      {open === 'comparison' && (
        <CustomDays
          title="Custom comparison"
          days={comparedDays ?? neighbourOf(days, -1)!.days}
          choose={(comparedDays) => changeView({ comparison: 'custom', comparedDays })}
          close={close}
        />
      )}
    </>
  )
}

function Choice({
  label,
  choices,
  chosen,
  customName,
  choose,
}: {
  label: string
  choices: Readonly<Record<string, string>>
  chosen: string
  /** Label of the custom choice while it is selected. */
  customName: string
  choose(choice: string): void
}) {
  // Its own option, so that the custom days can be changed.
  const shown = chosen === 'custom' ? '' : chosen
  return (
    <select
      aria-label={label}
      value={shown}
      onChange={({ currentTarget }) => {
        const { value } = currentTarget
        // The earlier choice remains until the days are entered.
        currentTarget.value = shown
        choose(value)
      }}
    >
      {shown === '' && <option value="">{customName}</option>}
      {Object.entries(choices).map(([choice, name]) => (
        <option key={choice} value={choice}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** A button that opens the previous or next period. */
function Step({ days, direction }: { days: Days; direction: -1 | 1 }) {
  const neighbour = neighbourOf(days, direction, Date.now(), zone.value)
  return (
    <button
      type="button"
      disabled={!neighbour}
      aria-label={direction < 0 ? 'Earlier period' : 'Later period'}
      onClick={() => neighbour && changeView(neighbour)}
    >
      {direction < 0 ? '‹' : '›'}
    </button>
  )
}
