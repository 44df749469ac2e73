import { useState } from 'preact/hooks'
import { api, type List } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { ListPage } from '../../components/listPage.tsx'
import { exactTime } from '../../components/time.ts'
import { useProjectPath } from '../../projectPath.ts'
import { go } from '../../router.tsx'
import { useListQuery } from '../../useQuery.ts'
import { kindNames } from './kindNames.ts'
import { UploadDialog } from './uploadDialog.tsx'

/** A project's lists of people, companies or browsers. */
export function Lists({ projectId }: { projectId: string }) {
  const pathTo = useProjectPath(projectId)
  const lists = useListQuery(
    (cursor) => api.listLists({ project_id: projectId, cursor }),
    ({ lists }) => lists,
  )
  const [isUploading, setUploading] = useState(false)
  const upload = (
    <button type="button" class="primary" onClick={() => setUploading(true)}>
      New list
    </button>
  )
  return (
    <ListPage
      title="Lists"
      lead="Your own addresses, hashes, domains or browsers, for audiences and exports."
      create={upload}
      query={lists}
      empty={
        <>
          <h2>Upload the first list</h2>
          <p>
            Upload CSV or JSON lines, or paste a few lines. Each rejected line is listed with its
            reason.
          </p>
        </>
      }
      columns={[
        { name: 'name', label: 'Name', value: ({ name }: List) => name },
        { name: 'kind', label: 'Items', value: ({ kind }: List) => kindNames[kind] },
        {
          name: 'count',
          label: 'Members',
          isNumber: true,
          value: ({ count }: List) => count,
          show: ({ count }: List) => records(count),
        },
        {
          name: 'updated',
          label: 'Changed',
          value: ({ updated_at }: List) => updated_at,
          show: ({ updated_at }: List) => exactTime(updated_at),
        },
      ]}
      keyOf={({ id }) => id}
      href={({ id }) => pathTo(`lists/${id}`)}
    >
      {isUploading && (
        <UploadDialog
          projectId={projectId}
          done={(listId) => go(pathTo(`lists/${listId}`))}
          close={() => setUploading(false)}
        />
      )}
    </ListPage>
  )
}
