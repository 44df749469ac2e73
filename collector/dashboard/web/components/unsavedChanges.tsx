import { useEffect, useState } from 'preact/hooks'
import { go, guardLeaving } from '../router.tsx'
import { ConfirmDialog } from './confirmDialog.tsx'

/** Asks before changes are lost that are not saved: where the page is left for another, and where the document is. */
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
