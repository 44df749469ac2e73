import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { DataTable } from '../../components/dataTable.tsx'
import { Moment } from '../../components/moment.tsx'
import { Section } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { exactTime } from '../../components/time.ts'
import { useListQuery } from '../../useQuery.ts'
import { labelOfField, words } from '../../view/labels.ts'
import type { Audience } from './audiences.tsx'

type Build = Awaited<ReturnType<typeof api.listAudienceBuilds>>['builds'][number]
type Change = Record<string, unknown> & { change: 'entered' | 'left'; hem: string }

const changesMax = 100

/** All builds of an audience, with entries and exits. */
export function Builds({ audience }: { audience: Audience }) {
  const ids = { project_id: audience.project_id, audience_id: audience.id }
  const builds = useListQuery(
    (cursor) => api.listAudienceBuilds({ ...ids, cursor }),
    ({ builds }) => builds,
  )
  const [chosen, choose] = useState<Build | null>(null)
  const all = builds.value ?? []
  const growth = (build: Build): number | null => {
    const before = all[all.indexOf(build) + 1]
    return build.count === null || !before || before.count === null
      ? null
      : build.count - before.count
  }
  return (
    <Section
      title="Builds"
      lead="Open a build to see who entered and who left since the previous one."
    >
      <PagedTable
        caption="Builds"
        prefix="build-"
        query={builds}
        empty={<p>No builds yet.</p>}
        columns={[
          {
            name: 'at',
            label: 'Requested',
            value: ({ requested_at }: Build) => requested_at,
            show: ({ requested_at }: Build) => <Moment at={requested_at} />,
          },
          {
            name: 'status',
            label: 'Status',
            value: ({ status }: Build) => status,
            show: ({ status, progress, error }: Build) => (
              <>
                <span class={`badge ${status === 'failed' ? 'bad' : ''}`}>
                  {status === 'unloading' ? 'preparing records' : status}
                </span>
                {status === 'unloading' && ` ${Math.round(progress * 100)} %`}
                {error && ` ${error}`}
              </>
            ),
          },
          {
            name: 'count',
            label: 'Members',
            isNumber: true,
            value: ({ count }: Build) => count,
            show: ({ count }: Build) => (count === null ? '–' : records(count)),
          },
          {
            name: 'growth',
            label: 'Change',
            isNumber: true,
            value: growth,
            show: (build: Build) => {
              const change = growth(build)
              return change === null ? '–' : `${change > 0 ? '+' : ''}${records(change)}`
            },
          },
          {
            name: 'served',
            label: 'In use',
            value: ({ is_served }: Build) => (is_served ? 'yes' : null),
          },
        ]}
        keyOf={({ build_id }) => build_id}
        open={(build) => choose(build)}
      />
      {chosen && audience.entity === 'people' && (
        <Changes key={chosen.build_id} audience={audience} build={chosen} />
      )}
    </Section>
  )
}

/** The entries and exits of a build, read after the user agreed to pay. */
function Changes({ audience, build }: { audience: Audience; build: Build }) {
  const prices = usePrices()
  const [found, setFound] = useState<Change[] | null>(null)
  const [fault, setFault] = useState('')
  const read = async () => {
    try {
      const { results } = await api.listAudienceChanges({
        project_id: audience.project_id,
        audience_id: audience.id,
        build_id: build.build_id,
        page_size: changesMax,
      })
      setFound(results as unknown as Change[])
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }
  return (
    <div class="card">
      <h3>Changes of the build of {exactTime(build.requested_at)}</h3>
      {found === null ? (
        <p>
          <button type="button" onClick={read}>
            Show who entered and left
          </button>{' '}
          <span class="hint">
            {prices.value &&
              `For ${changesMax} of them: ${costOf(prices.value, audience.meter, changesMax)}.`}{' '}
            Records that you read today are free.
          </span>
        </p>
      ) : found.length === 0 ? (
        <p>Nobody entered and nobody left.</p>
      ) : (
        <DataTable
          caption="Changes"
          prefix="change-"
          columns={['change', 'full_name', 'job_title', 'company_name', 'email', 'hem'].map(
            (name) => ({
              name,
              label: labelOfField(name),
              value: (row: Change) =>
                row[name] === null
                  ? null
                  : name === 'change'
                    ? words(row.change)
                    : String(row[name]),
            }),
          )}
          rows={found}
          keyOf={({ hem, change }) => `${change} ${hem}`}
        />
      )}
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
