import { Bars, Skeleton } from '../../components/skeleton.tsx'
import { shownMetrics } from './tiles.tsx'

/** The shape of panels. */
const Panels = () => (
  <div class="panels">
    {['Pages', 'Sources', 'Devices', 'Events'].map((panel) => (
      <div key={panel} class="card panel">
        <span class="bar title" />
        <Bars count={8} />
      </div>
    ))}
  </div>
)

/** A placeholder for loading panels. */
export const PanelsSkeleton = () => (
  <Skeleton>
    <Panels />
  </Skeleton>
)

/** The shape of a chart and of the link to its table. */
const Chart = () => (
  <div class="chart-frame with-table" aria-hidden="true">
    <div class="chart bar" />
  </div>
)

/** A placeholder for a loading chart. */
export const ChartSkeleton = () => (
  <Skeleton>
    <Chart />
  </Skeleton>
)

/** A placeholder for the loading figures of a period. */
export const OverviewSkeleton = () => (
  <Skeleton>
    <div class="figures" aria-hidden="true">
      <div class="card headline">
        <div class="tiles">
          {shownMetrics().map((metric) => (
            <div key={metric} class="tile">
              <Bars count={3} />
            </div>
          ))}
        </div>
        <div class="chart-tools" />
        <Chart />
      </div>
      <Panels />
    </div>
  </Skeleton>
)
