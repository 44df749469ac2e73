import { useState } from 'preact/hooks'
import { api, type Integration } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { localTime, millisOf } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { BacklogPrice } from './backlogPrice.tsx'
import { DailyMaxField } from './dailyMaxField.tsx'

/** Creates an archive in one of the project's buckets. Shows the price before. */
export function NewArchiveDialog({
  projectId,
  buckets,
  created,
  close,
}: {
  projectId: string
  buckets: readonly Integration[]
  created(): Promise<unknown>
  close(): void
}) {
  const [first] = useState({ starts_at: localTime(Date.now()), daily_records_max: '10000000' })
  const [startsAt, setStartsAt] = useState(first.starts_at)
  return (
    <Dialog title="New archive" close={close}>
      <Form
        values={first}
        edited={({ starts_at = '' }) => setStartsAt(starts_at)}
        submit={async ({ integration_id = '', starts_at = '', daily_records_max }) => {
          await api.createArchive({
            project_id: projectId,
            integration_id,
            starts_at: new Date(millisOf(starts_at)).toISOString(),
            daily_records_max: Number(daily_records_max),
          })
          toast('Archive created')
          close()
          await created()
        }}
        action="Create archive"
        cancel={close}
      >
        <Select
          name="integration_id"
          label="Bucket"
          options={Object.fromEntries(buckets.map(({ id, name }) => [id, name]))}
        />
        <TextField
          name="starts_at"
          label="First hour"
          hint="In the project’s time zone, at most 400 days ago. Footfall also copies, and charges, all events since this time."
          type="datetime-local"
          required
        />
        <DailyMaxField />
        {startsAt !== '' && <BacklogPrice projectId={projectId} startMs={millisOf(startsAt)} />}
      </Form>
    </Dialog>
  )
}
