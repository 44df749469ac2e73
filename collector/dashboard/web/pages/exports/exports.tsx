import { useState } from 'preact/hooks'
import { api, type Export } from '../../api.ts'
import { ListPage } from '../../components/listPage.tsx'
import { exactTime } from '../../components/time.ts'
import { useProjectPath } from '../../projectPath.ts'
import { go, Link } from '../../router.tsx'
import { useListQuery, useQuery } from '../../useQuery.ts'
import { destinationNames, formatNames } from '../integrations/destinationFields.ts'
import { ExportDialog } from './exportDialog.tsx'

/** The exports of a project: source, destination and schedule. */
export function Exports({ projectId }: { projectId: string }) {
  const pathTo = useProjectPath(projectId)
  const exports = useListQuery(
    (cursor) => api.listExports({ project_id: projectId, cursor }),
    ({ exports }) => exports,
  )
  const names = useQuery(async () => {
    const [{ audiences }, { lists }] = await Promise.all([
      api.listAudiences({ project_id: projectId }),
      api.listLists({ project_id: projectId }),
    ])
    return new Map([...audiences, ...lists].map(({ id, name }) => [id, name]))
  })
  /** The name of the audience or list, or its kind until the name is loaded. */
  const nameOf = ({ audience_id, list_id }: Export) =>
    names.value?.get(audience_id ?? list_id ?? '') ?? (audience_id ? 'Audience' : 'List')
  const [isCreating, setCreating] = useState(false)
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      New export
    </button>
  )
  return (
    <ListPage
      title="Exports"
      lead="Sends an audience or a list to an integration, on request or on a schedule. Every record has a result."
      create={create}
      query={exports}
      empty={
        <>
          <h2>Send the first audience</h2>
          <p>An export requires an audience or a list, and an integration.</p>
        </>
      }
      columns={[
        { name: 'name', label: 'Name', value: ({ name }: Export) => name },
        {
          name: 'of',
          label: 'Sends',
          value: nameOf,
          show: (of: Export) => (
            <Link
              href={pathTo(of.audience_id ? `audiences/${of.audience_id}` : `lists/${of.list_id}`)}
            >
              {nameOf(of)}
            </Link>
          ),
        },
        {
          name: 'to',
          label: 'To',
          value: ({ integration_type }: Export) => destinationNames[integration_type],
        },
        {
          name: 'format',
          label: 'Format',
          value: ({ output_format }: Export) => formatNames[output_format],
        },
        { name: 'schedule', label: 'Runs', value: ({ schedule }: Export) => schedule },
        {
          name: 'updated',
          label: 'Changed',
          value: ({ updated_at }: Export) => updated_at,
          show: ({ updated_at }: Export) => exactTime(updated_at),
        },
      ]}
      keyOf={({ id }) => id}
      href={({ id }) => pathTo(`exports/${id}`)}
    >
      {isCreating && (
        <ExportDialog
          projectId={projectId}
          created={(id) => go(pathTo(`exports/${id}`))}
          close={() => setCreating(false)}
        />
      )}
    </ListPage>
  )
}
