import { useState } from 'preact/hooks'
import { api, type List } from '../../api.ts'
import { records, recordsOrDash } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { Moment } from '../../components/moment.tsx'
import { Page, Section } from '../../components/page.tsx'
import { PagedTable } from '../../components/pagedTable.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { counted, percent } from '../../format.ts'
import { useProjectPath } from '../../projectPath.ts'
import { go, Link } from '../../router.tsx'
import { setUrl, urlValue } from '../../urlState.ts'
import { useListQuery, useQuery, useRepeat } from '../../useQuery.ts'
import { kindNames } from './kindNames.ts'
import { UploadDialog } from './uploadDialog.tsx'

type Import = Awaited<ReturnType<typeof api.listListImports>>['imports'][number]
type Line = Awaited<ReturnType<typeof api.listRejectedLines>>['rejected'][number]

const pollMs = 1_000

/** One list: the result of each import, and its rejected lines. */
export function ListPage({ listId }: { projectId: string; listId: string }) {
  const list = useQuery(async () => (await api.getList({ list_id: listId })).list)
  return (
    <AsyncView query={list} lines={8}>
      {(found) => <Loaded list={found} reload={list.reload} />}
    </AsyncView>
  )
}

function Loaded({ list, reload }: { list: List; reload(): Promise<void> }) {
  const pathTo = useProjectPath(list.project_id)
  const imports = useListQuery(
    (cursor) => api.listListImports({ list_id: list.id, cursor }),
    ({ imports }) => imports,
  )
  const [open, setOpen] = useState<'add' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const isUnderWay = imports.value?.some(
    ({ status }) => status === 'pending' || status === 'processing',
  )
  useRepeat(() => Promise.all([imports.reload(), reload()]), pollMs, isUnderWay ?? false)
  const chosen = imports.value?.find(({ id }) => id === urlValue('import')) ?? imports.value?.[0]
  return (
    <Page
      title={list.name}
      lead={
        <>
          <Link href={pathTo('lists')}>Lists</Link> <span aria-hidden="true">/</span>{' '}
          {counted(list.count, 'member')}: {kindNames[list.kind]}
        </>
      }
      actions={
        <>
          <button type="button" class="primary" onClick={() => setOpen('add')}>
            Add items
          </button>
          <button type="button" onClick={() => setOpen('delete')}>
            Delete
          </button>
        </>
      }
    >
      <div class="wide">
        <Section title="Imports" lead="Open an import to see its rejected lines.">
          <PagedTable
            caption="Imports"
            query={imports}
            empty={<p>No imports yet.</p>}
            columns={importColumns}
            keyOf={({ id }) => id}
            open={({ id }) => setUrl({ import: id })}
          />
        </Section>
        {chosen && <MatchRate of={chosen} />}
        {chosen && (
          <Rejected key={`${chosen.id} ${chosen.status}`} listId={list.id} chosen={chosen} />
        )}
      </div>
      {open === 'add' && (
        <UploadDialog
          projectId={list.project_id}
          list={list}
          done={async () => {
            close()
            toast('Import started')
            await imports.reload()
          }}
          close={close}
        />
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={`Delete “${list.name}”?`}
          action="Delete list"
          confirm={async () => {
            await api.deleteList({ list_id: list.id })
            toast('List deleted')
            go(pathTo('lists'))
          }}
          close={close}
        >
          <p>
            Its members and imports are deleted. You cannot delete a list that an audience or an
            export uses.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  )
}

const count = (
  name: 'rows_total' | 'rows_matched' | 'rows_unmatched' | 'rows_duplicate' | 'rows_rejected',
  label: string,
) => ({
  name,
  label,
  isNumber: true,
  value: (found: Import) => found[name] ?? null,
  show: (found: Import) => recordsOrDash(found[name]),
})

const importColumns = [
  {
    name: 'created',
    label: 'Begun',
    value: ({ created_at }: Import) => created_at,
    show: ({ created_at }: Import) => <Moment at={created_at} />,
  },
  {
    name: 'status',
    label: 'Status',
    value: ({ status }: Import) => status,
    show: ({ status, progress, error }: Import) => (
      <>
        <span
          class={`badge ${status === 'failed' ? 'bad' : status === 'completed' ? '' : 'quiet'}`}
        >
          {status}
        </span>
        {status === 'processing' && ` ${Math.round(progress * 100)} %`}
        {error && ` ${error}`}
      </>
    ),
  },
  count('rows_total', 'Rows'),
  count('rows_matched', 'Matched'),
  count('rows_unmatched', 'Unmatched'),
  count('rows_duplicate', 'Duplicate'),
  count('rows_rejected', 'Rejected'),
]

/** How many of the new rows of an import match profiles of people or companies. */
function MatchRate({
  of: { status, rows_matched: matched, rows_unmatched: unmatched },
}: {
  of: Import
}) {
  if (status !== 'completed') return null
  if (matched === undefined || unmatched === undefined)
    return (
      <p class="card">
        Today’s free answers are used up. The match rate appears after midnight UTC.
      </p>
    )
  const added = matched + unmatched
  if (added === 0) return null
  return (
    <p class="card" role="status">
      <strong class="number">{percent(matched / added)}</strong> matched: profiles exist for{' '}
      {records(matched)} of {counted(added, 'new row')}. Importing is free.
    </p>
  )
}

const reasonText = ({ message }: Line) => message.charAt(0).toUpperCase() + message.slice(1)

/** The rejected lines of an import, with reasons. */
function Rejected({ listId, chosen }: { listId: string; chosen: Import }) {
  const lines = useListQuery(
    (cursor) => api.listRejectedLines({ list_id: listId, import_id: chosen.id, cursor }),
    ({ rejected }) => rejected,
  )
  return (
    <Section title="Rejected lines" lead={`In the import of ${exactTime(chosen.created_at)}.`}>
      <PagedTable
        caption="Rejected lines"
        prefix="line-"
        query={lines}
        empty={
          <p>{chosen.status === 'completed' ? 'None. Every line was imported.' : 'None so far.'}</p>
        }
        columns={[
          {
            name: 'line',
            label: 'Line',
            value: ({ line }: Line) => line,
            show: ({ line }: Line) => records(line),
          },
          {
            name: 'reason',
            label: 'Reason',
            value: reasonText,
            show: (line: Line) => <span class="wraps">{reasonText(line)}</span>,
          },
        ]}
        keyOf={({ line }) => String(line)}
      />
    </Section>
  )
}
