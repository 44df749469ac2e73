import { useState } from 'preact/hooks'
import { type Archive, api } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Facts } from '../../components/facts.tsx'
import { Form } from '../../components/form.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { counted, wholeNumber } from '../../format.ts'
import { BacklogPrice } from './backlogPrice.tsx'
import { DailyMaxField } from './dailyMaxField.tsx'

/** Shows an archive. An admin of the project pauses, continues or deletes it here. */
export function ArchiveDialog({
  archive,
  bucket,
  state,
  mayEdit,
  changed,
  close,
}: {
  archive: Archive
  /** The name of the integration. */
  bucket: string
  state: string
  mayEdit: boolean
  changed(): Promise<unknown>
  close(): void
}) {
  const { archive_id, project_id, active, version } = archive
  const [isDeleting, setDeleting] = useState(false)
  const done = async (said: string) => {
    toast(said)
    close()
    await changed()
  }
  if (isDeleting)
    return (
      <ConfirmDialog
        title={`Delete the archive in “${bucket}”?`}
        action="Delete archive"
        confirm={async () => {
          await api.deleteArchive({ archive_id })
          await done('Archive deleted')
        }}
        close={close}
      >
        <p>
          Footfall copies and charges nothing more. The {counted(archive.files, 'file')} in the
          bucket stay.
        </p>
      </ConfirmDialog>
    )
  return (
    <Dialog title={`Archive in “${bucket}”`} close={close}>
      <Facts
        of={{
          State: state,
          Reason: archive.paused_reason,
          'First hour': exactTime(archive.starts_at),
          'Complete until': exactTime(archive.archived_until),
          Files: wholeNumber(archive.files),
          Events: wholeNumber(archive.rows),
          'Most events a day': wholeNumber(archive.daily_records_max),
          'Folder in the bucket': <code>project={project_id}/</code>,
        }}
      />
      {mayEdit && (
        <>
          {!active && (
            <>
              <p class="hint">It then also copies, and charges, the hours of its pause.</p>
              <BacklogPrice projectId={project_id} startMs={Date.parse(archive.archived_until)} />
            </>
          )}
          <Form
            submit={async () => {
              await api.updateArchive({ archive_id, active: !active, version })
              await done(active ? 'Archive paused' : 'Archive continues')
            }}
            action={active ? 'Pause archive' : 'Continue archive'}
            cancel={close}
          >
            {null}
          </Form>
          <Form
            values={{ daily_records_max: String(archive.daily_records_max) }}
            submit={async ({ daily_records_max }) => {
              await api.updateArchive({
                archive_id,
                daily_records_max: Number(daily_records_max),
                version,
              })
              await done('Daily maximum saved')
            }}
            action="Save daily maximum"
          >
            <DailyMaxField />
          </Form>
          <p class="dialog-more">
            <button type="button" class="link danger" onClick={() => setDeleting(true)}>
              Delete this archive…
            </button>
          </p>
        </>
      )}
    </Dialog>
  )
}
