import type { Versioned } from '../api.ts'
import { Dialog } from './dialog.tsx'
import { EditForm } from './editForm.tsx'
import { TextField } from './fields.tsx'
import { toast } from './toast.tsx'

export function RenameDialog<
  T extends Versioned & { name: string },
  What extends 'project' | 'pixel',
>({
  what,
  object,
  save,
  renamed,
  close,
}: {
  what: What
  object: T
  save(name: string, version: number): Promise<Record<What, T>>
  renamed(object: T): void
  close(): void
}) {
  return (
    <Dialog title={`Rename ${what}`} close={close}>
      <EditForm
        object={object}
        kind={what}
        valuesOf={({ name }) => ({ name })}
        save={({ name = '' }, version) => save(name, version)}
        saved={(object) => {
          toast('Renamed')
          renamed(object)
        }}
        action="Rename"
        cancel={close}
      >
        <TextField name="name" label="Name" maxLength={200} required />
      </EditForm>
    </Dialog>
  )
}
