import { useState } from 'preact/hooks'
import { type Archive, api, type Integration } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Page } from '../../components/page.tsx'
import { exactTime } from '../../components/time.ts'
import { wholeNumber } from '../../format.ts'
import { useProjectPath } from '../../projectPath.ts'
import { projectRole } from '../../projectRole.ts'
import { Link } from '../../router.tsx'
import { useQuery } from '../../useQuery.ts'
import { ArchiveDialog } from './archiveDialog.tsx'
import { NewArchiveDialog } from './newArchiveDialog.tsx'

const pauses: Record<NonNullable<Archive['paused_by']>, string> = {
  budget_exceeded: 'Waits: the budget is used up',
  platform_cap_exceeded: 'Waits: a usage limit is reached',
  destination: 'Waits: the bucket refuses files',
  daily_records_max: 'Waits: the daily maximum is reached',
}

const stateOf = ({ active, paused_by }: Archive): string =>
  active ? (paused_by ? pauses[paused_by] : 'On') : 'Off'

/** The archives of a project: hourly copies of its raw events in the customer's buckets. */
export function Archives({ projectId }: { projectId: string }) {
  const asked = useQuery(async () => {
    const project = { project_id: projectId }
    const [{ archives }, { integrations }, role] = await Promise.all([
      api.listArchives(project),
      api.listIntegrations({ ...project, limit: 200 }),
      projectRole(projectId),
    ])
    const buckets = integrations.filter(({ type }) => type === 's3')
    return { archives, buckets, mayEdit: role === 'admin' }
  })
  const [opened, setOpened] = useState<Archive | 'new' | null>(null)
  const close = () => setOpened(null)
  return (
    <Page
      title="Archives"
      lead="Footfall copies the raw events of each hour as Parquet files to your S3-compatible bucket."
      actions={
        asked.value?.mayEdit &&
        asked.value.buckets.length > 0 && (
          <button type="button" class="primary" onClick={() => setOpened('new')}>
            New archive
          </button>
        )
      }
    >
      <div class="wide">
        <AsyncView query={asked}>
          {({ archives, buckets, mayEdit }) => (
            <>
              <DataTable
                caption="Archives"
                columns={columnsFor(buckets)}
                rows={archives}
                keyOf={({ archive_id }) => archive_id}
                open={(archive) => setOpened(archive)}
                empty={<NoArchives projectId={projectId} hasBucket={buckets.length > 0} />}
              />
              {opened === 'new' && (
                <NewArchiveDialog
                  projectId={projectId}
                  buckets={buckets}
                  created={asked.reload}
                  close={close}
                />
              )}
              {opened !== null && opened !== 'new' && (
                <ArchiveDialog
                  archive={opened}
                  bucket={bucketOf(opened, buckets)}
                  state={stateOf(opened)}
                  mayEdit={mayEdit}
                  changed={asked.reload}
                  close={close}
                />
              )}
            </>
          )}
        </AsyncView>
      </div>
    </Page>
  )
}

const bucketOf = ({ integration_id }: Archive, buckets: readonly Integration[]): string =>
  buckets.find(({ id }) => id === integration_id)?.name ?? 'A bucket'

const columnsFor = (buckets: readonly Integration[]) => [
  { name: 'bucket', label: 'Bucket', value: (archive: Archive) => bucketOf(archive, buckets) },
  { name: 'state', label: 'State', value: stateOf },
  {
    name: 'until',
    label: 'Complete until',
    value: ({ archived_until }: Archive) => archived_until,
    show: ({ archived_until }: Archive) => exactTime(archived_until),
  },
  {
    name: 'files',
    label: 'Files',
    isNumber: true,
    value: ({ files }: Archive) => files,
    show: ({ files }: Archive) => wholeNumber(files),
  },
  {
    name: 'rows',
    label: 'Events',
    isNumber: true,
    value: ({ rows }: Archive) => rows,
    show: ({ rows }: Archive) => wholeNumber(rows),
  },
]

/** Explains an archive, and asks for a bucket where the project has none. */
function NoArchives({ projectId, hasBucket }: { projectId: string; hasBucket: boolean }) {
  const pathTo = useProjectPath(projectId)
  return (
    <>
      <h2>Keep your raw events</h2>
      <p>An archive has no identity data. DuckDB, Spark and dbt can read its files.</p>
      {!hasBucket && (
        <p>
          It requires a bucket.{' '}
          <Link href={pathTo('integrations')}>Create an integration of the type S3</Link> first.
        </p>
      )}
    </>
  )
}
