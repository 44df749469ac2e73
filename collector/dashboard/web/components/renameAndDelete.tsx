import { useState } from 'preact/hooks'
import type { EventsFate, Versioned } from '../api.ts'
import { go } from '../router.tsx'
import { DeleteDialog } from './deleteDialog.tsx'
import { RenameDialog } from './renameDialog.tsx'
import { toast } from './toast.tsx'

/** Buttons that rename or delete the object of a page, with their dialogs. */
export function RenameAndDelete<
  T extends Versioned & { name: string },
  What extends 'project' | 'pixel',
>({
  what,
  object,
  rename,
  renamed,
  mayDelete = true,
  remove,
  parent,
}: {
  what: What
  object: T
  rename(name: string, version: number): Promise<Record<What, T>>
  renamed(object: T): void
  mayDelete?: boolean
  remove(events: EventsFate): Promise<unknown>
  /** The path of the page to open after the deletion. */
  parent: string
}) {
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <button type="button" onClick={() => setOpen('rename')}>
        Rename
      </button>
      {mayDelete && (
        <button type="button" onClick={() => setOpen('delete')}>
          Delete
        </button>
      )}
      {open === 'rename' && (
        <RenameDialog
          what={what}
          object={object}
          save={rename}
          renamed={(object) => {
            close()
            renamed(object)
          }}
          close={close}
        />
      )}
      {open === 'delete' && (
        <DeleteDialog
          what={what}
          name={object.name}
          remove={async (events) => {
            await remove(events)
            toast(`${what === 'pixel' ? 'Pixel' : 'Project'} deleted`)
            go(parent)
          }}
          close={close}
        />
      )}
    </>
  )
}
