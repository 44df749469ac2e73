import { useEffect, useState } from 'preact/hooks'
import { go, guardLeaving } from '../router.tsx'
import { ConfirmDialog } from './confirmDialog.tsx'

/** Asks before unsaved changes are lost: when the user opens another page or leaves the document. */
export function UnsavedChanges({ count }: { count: number }) {
  const [destination, setDestination] = useState<string | null>(null)
  const [isLeaving, setLeaving] = useState(false)
  const isUnsaved = count > 0 && !isLeaving
  useEffect(() => {
    if (!isUnsaved) return
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', onUnload)
    const endGuard = guardLeaving((to) => {
      setDestination(to)
      return false
    })
    return () => {
      removeEventListener('beforeunload', onUnload)
      endGuard()
    }
  }, [isUnsaved])
  useEffect(() => {
    if (isLeaving) go(destination!)
  }, [isLeaving])

  if (destination === null) return null
  return (
    <ConfirmDialog
      title="Leave without saving?"
      action="Leave"
      confirm={async () => setLeaving(true)}
      close={() => setDestination(null)}
    >
      <p>{count === 1 ? 'One change is' : `${count} changes are`} not saved and would be lost.</p>
    </ConfirmDialog>
  )
}
