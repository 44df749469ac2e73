import { useRef } from 'preact/hooks'
import { api, type List } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { LinesField, linesOf, Select, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { uploadFile } from '../../upload.ts'

const kinds: Record<List['kind'], string> = {
  emails: 'E-mail addresses (stored only as hashes)',
  hems: 'Hashed e-mail addresses (SHA-256)',
  domains: 'Domains of companies',
  cookies: 'Browsers (visitor ids)',
}

/** Creates a list from a file or from pasted lines; with `list`, adds to it. */
export function UploadDialog({
  projectId,
  list,
  done,
  close,
}: {
  projectId: string
  list?: List
  done(listId: string): void
  close(): void
}) {
  const file = useRef<HTMLInputElement>(null)
  return (
    <Dialog title={list ? `Add to ${list.name}` : 'New list'} close={close}>
      <Form
        action={list ? 'Add' : 'Create list'}
        cancel={close}
        submit={async ({ name = '', kind = 'emails', lines = '' }) => {
          const chosen = file.current?.files?.[0]
          const items = linesOf(lines)
          if (chosen) {
            const query = list ? {} : { project_id: projectId, name, kind }
            const path = list ? `/api/v1/lists/${list.id}/items` : '/api/v1/lists'
            const started = await uploadFile(path, query, chosen)
            done(list?.id ?? started.list!.id)
          } else if (list) {
            await api.addListItems({ list_id: list.id, items })
            done(list.id)
          } else {
            const made = await api.createList({
              project_id: projectId,
              name,
              kind: kind as List['kind'],
              items,
            })
            done(made.list.id)
          }
        }}
      >
        {!list && (
          <>
            <TextField name="name" label="Name" maxLength={200} required />
            <Select name="kind" label="Type of the items" options={kinds} />
          </>
        )}
        <label class="field">
          <span class="label">File (CSV or JSON lines, optionally .gz, up to 1 GiB)</span>
          <input ref={file} type="file" accept=".csv,.txt,.ndjson,.jsonl,.gz" />
        </label>
        <p class="hint">
          Importing is free. Afterwards you see how many rows match profiles of people or companies.
        </p>
        <LinesField name="lines" label="Or paste items, one on each line" rows={5} />
      </Form>
    </Dialog>
  )
}
