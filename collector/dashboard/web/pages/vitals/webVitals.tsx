import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { type Column, DataTable } from '../../components/dataTable.tsx'
import { Page } from '../../components/page.tsx'
import { counted, wholeNumber } from '../../format.ts'
import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'
import { useQueryOf } from '../../useQuery.ts'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { type Rating, rate, textOfVital, type Vital, vitals } from './rating.ts'

type Found = Awaited<ReturnType<typeof api.getAnalyticsWebVitals>>
type OfPage = Found['pages'][number]

const names = Object.keys(vitals) as Vital[]

/** The page of Web Vitals: loading, reaction and stability, measured by visitors' browsers. */
export function WebVitals({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const found = useQueryOf(JSON.stringify(query), () => api.getAnalyticsWebVitals(query))
  return (
    <Page
      title="Web Vitals"
      lead="How fast pages load, react and hold still for three of four visits, rated as web.dev does."
    >
      <div class="wide">
        <ViewBar view={view} hasComparison={false} />
        <AsyncView query={found} lines={8}>
          {({ overall, pages }) =>
            overall.samples === 0 ? (
              <NoMeasurements projectId={projectId} />
            ) : (
              <div class={found.isStale ? 'stale' : ''}>
                <section class="card headline" aria-label="All pages">
                  <ul class="tiles">
                    {names.map((name) => (
                      <li key={name} class="tile">
                        <span class="tile-name">{vitals[name].label}</span>
                        <span class="tile-value">
                          <Measured name={name} value={overall[name]} />
                        </span>
                      </li>
                    ))}
                  </ul>
                  <p class="hint">{counted(overall.samples, 'measurement')}</p>
                </section>
                <DataTable
                  caption="Web Vitals by page"
                  columns={columns}
                  rows={pages}
                  keyOf={({ page_path }) => page_path}
                />
              </div>
            )
          }
        </AsyncView>
      </div>
    </Page>
  )
}

const columns: Column<OfPage>[] = [
  { name: 'page', label: 'Page', value: ({ page_path }) => page_path },
  ...names.map(
    (name): Column<OfPage> => ({
      name,
      label: vitals[name].label,
      isNumber: true,
      value: (row) => row[name],
      show: (row) => <Measured name={name} value={row[name]} />,
    }),
  ),
  {
    name: 'samples',
    label: 'Measurements',
    isNumber: true,
    value: ({ samples }) => samples,
    show: ({ samples }) => wholeNumber(samples),
  },
]

const badges: Record<Rating, string> = { good: '', fair: 'quiet', poor: 'bad' }
const words: Record<Rating, string> = { good: 'good', fair: 'needs improvement', poor: 'poor' }

/** A value and its rating, in words as well as in color. */
function Measured({ name, value }: { name: Vital; value: number | null }) {
  if (value === null) return <span class="nothing">–</span>
  const rating = rate(name, value)
  return (
    <>
      {textOfVital(name, value)} <span class={`badge ${badges[rating]}`}>{words[rating]}</span>
    </>
  )
}

function NoMeasurements({ projectId }: { projectId: string }) {
  const pathTo = useProjectPath(projectId)
  return (
    <div class="empty">
      <h2>No measurements in this period</h2>
      <p>
        Switch on “Web Vitals” in the settings of a pixel. Its pages then measure how fast they
        load, react and hold still.
      </p>
      <Link class="button" href={pathTo('')}>
        Pixels
      </Link>
    </div>
  )
}
