import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Session } from '../api.ts'
import { lazyPage } from '../lazyPage.tsx'
import { go } from '../router.tsx'
import { addressOf, placesFor, projectAddress, projectPlaces } from '../routes.ts'
import { isSingleKey } from '../singleKeys.ts'

/** The open global dialog. */
const open = signal<'palette' | 'help' | null>(null)
const close = () => {
  open.value = null
}

const Palette = lazyPage(() => import('./palette.tsx').then(({ Palette }) => Palette))
const Help = lazyPage(() => import('./shortcutHelp.tsx').then(({ ShortcutHelp }) => ShortcutHelp))

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
const paletteKeys = isApple ? '⌘K' : 'Ctrl K'

/** A button for Ctrl-K, for users who do not know the shortcut or have no keyboard. */
export function GoAnywhere() {
  return (
    <button
      type="button"
      class="go-anywhere"
      onClick={() => {
        open.value = 'palette'
      }}
    >
      Go to… <kbd>{paletteKeys}</kbd>
    </button>
  )
}

/** Time limit for the letter after `g`. */
const chordMs = 1_500

/** Handles the keys that work on every page, and shows their dialogs. */
export function Shortcuts({
  session,
  projectId,
}: {
  session: Session
  projectId: string | undefined
}) {
  const { organization_id } = session.organization
  useEffect(() => {
    let goPressedAt = Number.NEGATIVE_INFINITY
    const addresses = new Map<string | undefined, string>(
      [
        ...placesFor(session).map(
          (place) => [place.key, addressOf(organization_id, place)] as const,
        ),
        ...projectPlaces.map(
          (place) =>
            [place.key, projectId && projectAddress(organization_id, projectId, place)] as const,
        ),
      ].filter((entry): entry is [string, string] => Boolean(entry[0] && entry[1])),
    )
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) {
        event.preventDefault()
        if (!document.querySelector('dialog[open]')) open.value = 'palette'
        return
      }
      if (!isSingleKey(event)) return
      if (event.key === '?') {
        event.preventDefault()
        open.value = 'help'
        return
      }
      const address = addresses.get(event.key)
      if (address && event.timeStamp - goPressedAt < chordMs) {
        event.preventDefault()
        go(address)
      }
      goPressedAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [session, projectId])
  if (open.value === 'palette')
    return <Palette session={session} projectId={projectId} close={close} />
  return open.value === 'help' ? (
    <Help session={session} projectId={projectId} paletteKeys={paletteKeys} close={close} />
  ) : null
}
